"""The knowledge path tried on one machine: the same questions, three ways to bring knowledge in.

`mix` makes the questions and their texts, `shelving` fills a knowledge node, `asking` sends the
questions through a Scheduler, `outcome` reads what came back, `figures` sums it up. Before
that, `learning` turns the log of a few questions, asked one by one, into coefficients.
"""
