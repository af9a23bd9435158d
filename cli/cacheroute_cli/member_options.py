"""The options of commands that put a model server into the pool."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cacheroute_cli.context import Context
from cacheroute_cli.options import attach, context_of

if TYPE_CHECKING:
    from cacheroute_cli.attaching import Attaching

ModelOption = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Model that it must serve (default: what it lists)."),
]
InstanceIdOption = Annotated[
    str | None, typer.Option(metavar="ID", help="Name in the pool (default: hp_HOST:PORT).")
]
TagsOption = Annotated[str | None, typer.Option(metavar="A,B", help="Tags to register it with.")]
WeightOption = Annotated[
    float | None, typer.Option(metavar="X", min=0, help="Its share of requests (default: 1).")
]
KeyOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Variable that holds the key the server wants. The Proxy gets no key from here: "
        "where clients bring none, use 'proxy start --instance URL,api_key=env:NAME' instead.",
    ),
]
AgentUrlOption = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="Resource agent of the server's host (default: one of this host, for a server here).",
    ),
]
NoAgentOption = Annotated[
    bool, typer.Option("--no-agent", help="Report nothing of the server's host.")
]
KdnTargetsOption = Annotated[
    str | None,
    typer.Option(metavar="HOST:PORT,..", help="Knowledge nodes whose distance is measured."),
]

MEMBER: dict[str, Any] = {
    "model": ModelOption,
    "instance_id": InstanceIdOption,
    "tags": TagsOption,
    "weight": WeightOption,
    "api_key_env": KeyOption,
    "agent_url": AgentUrlOption,
    "no_agent": NoAgentOption,
    "kdn_targets": KdnTargetsOption,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """What was said about a server that is to join the pool; None is not said."""

    context: Context
    model: str | None
    instance_id: str | None
    tags: str | None
    weight: float | None
    api_key_env: str | None
    agent_url: str | None
    no_agent: bool | None
    kdn_targets: str | None

    def attaching(
        self,
        endpoint: str,
        *,
        interval_s: float | None = None,
        wait_s: float | None = None,
        on_this_host: bool = False,
    ) -> "Attaching":
        """Return how the server at the endpoint is to be attached."""
        from cacheroute_cli.attaching import Attaching

        return Attaching(
            endpoint=endpoint,
            proxy_url=self.context.proxy_url,
            token=self.context.token,
            model=self.model,
            instance_id=self.instance_id,
            tags=self.tags,
            weight=self.weight,
            api_key_env=self.api_key_env,
            agent_url=self.agent_url,
            no_agent=bool(self.no_agent),
            on_this_host=on_this_host,
            kdn_targets=self.kdn_targets,
            interval_s=interval_s,
            wait_s=wait_s,
        )


def with_member(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the common options and those of a server for the pool, as a Member."""

    return attach(
        command, Member, MEMBER, lambda given, more: Member(context=context_of(given), **more)
    )
