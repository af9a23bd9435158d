"""Whether knowledge goes in front of a prompt as text or as KV, and what then goes out.

Start reading at `decide`: a Task, the situation of its Instance, and what follows from them.
"""
