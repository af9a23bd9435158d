"""What an operator may change on a Proxy: the questions, and both clients' methods for them.

Each change can be asked about first: with `dry_run` the Proxy tells what it would do.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING, Protocol, TypeVar

from cacheroute.client.ask import Ask
from cacheroute.client.later import later
from cacheroute.wire import paths

if TYPE_CHECKING:
    from cacheroute.wire import admin as wire
    from cacheroute.wire.admin import (
        ChangeBody,
        ChangeReply,
        DrainBody,
        StrategiesReply,
        StrategyBody,
        StrategyReply,
        WeightBody,
    )
else:
    wire = later("cacheroute.wire.admin")

T = TypeVar("T")


def strategies() -> Ask[StrategiesReply]:
    """What it can route by, and what is in force."""
    return Ask(path=paths.ADMIN_STRATEGY, reply=wire.StrategiesReply)


def drain(body: DrainBody) -> Ask[ChangeReply]:
    """Keep new requests away from Instances."""
    return _change(paths.ADMIN_DRAIN, body)


def undrain(body: ChangeBody) -> Ask[ChangeReply]:
    """Let Instances take requests again."""
    return _change(paths.ADMIN_UNDRAIN, body)


def weigh(body: WeightBody) -> Ask[ChangeReply]:
    """Give Instances another share than their own, or their own again."""
    return _change(paths.ADMIN_WEIGHT, body)


def unregister(body: ChangeBody) -> Ask[ChangeReply]:
    """Take Instances out of the pool."""
    return _change(paths.ADMIN_UNREGISTER, body)


def use_strategy(body: StrategyBody) -> Ask[StrategyReply]:
    """Route by another strategy."""
    return Ask(
        path=paths.ADMIN_STRATEGY, body=body.model_dump_json().encode(), reply=wire.StrategyReply
    )


def _change(path: str, body: ChangeBody) -> Ask[ChangeReply]:
    return Ask(path=path, body=body.model_dump_json().encode(), reply=wire.ChangeReply)


class _Asks(Protocol):
    def ask(self, ask: Ask[T]) -> T: ...


class _AsksLater(Protocol):
    def ask(self, ask: Ask[T]) -> Awaitable[T]: ...


class AdminCalls:
    """The changes, for a client that asks and waits."""

    def drain(self: _Asks, body: DrainBody) -> ChangeReply:
        """`POST /v1/admin/instance/drain`."""
        return self.ask(drain(body))

    def undrain(self: _Asks, body: ChangeBody) -> ChangeReply:
        """`POST /v1/admin/instance/undrain`."""
        return self.ask(undrain(body))

    def weigh(self: _Asks, body: WeightBody) -> ChangeReply:
        """`POST /v1/admin/instance/weight`."""
        return self.ask(weigh(body))

    def drop(self: _Asks, body: ChangeBody) -> ChangeReply:
        """`POST /v1/admin/instance/unregister`."""
        return self.ask(unregister(body))

    def strategies(self: _Asks) -> StrategiesReply:
        """`GET /v1/admin/strategy`."""
        return self.ask(strategies())

    def use_strategy(self: _Asks, body: StrategyBody) -> StrategyReply:
        """`POST /v1/admin/strategy`."""
        return self.ask(use_strategy(body))


class AsyncAdminCalls:
    """The changes, for a client that holds nobody up."""

    async def drain(self: _AsksLater, body: DrainBody) -> ChangeReply:
        """`POST /v1/admin/instance/drain`."""
        return await self.ask(drain(body))

    async def undrain(self: _AsksLater, body: ChangeBody) -> ChangeReply:
        """`POST /v1/admin/instance/undrain`."""
        return await self.ask(undrain(body))

    async def weigh(self: _AsksLater, body: WeightBody) -> ChangeReply:
        """`POST /v1/admin/instance/weight`."""
        return await self.ask(weigh(body))

    async def drop(self: _AsksLater, body: ChangeBody) -> ChangeReply:
        """`POST /v1/admin/instance/unregister`."""
        return await self.ask(unregister(body))

    async def strategies(self: _AsksLater) -> StrategiesReply:
        """`GET /v1/admin/strategy`."""
        return await self.ask(strategies())

    async def use_strategy(self: _AsksLater, body: StrategyBody) -> StrategyReply:
        """`POST /v1/admin/strategy`."""
        return await self.ask(use_strategy(body))
