"""The parts of one knowledge node, put together on the running loop."""

from cacheroute.core.limits import Limits, Timeouts
from cacheroute.dataplane.server import HttpServer
from cacheroute.demo.kdn.allowed import Allowed
from cacheroute.demo.kdn.building import Building
from cacheroute.demo.kdn.database import Database
from cacheroute.demo.kdn.faults import Faults
from cacheroute.demo.kdn.injecting import Injecting
from cacheroute.demo.kdn.kv import Kv
from cacheroute.demo.kdn.link import Link
from cacheroute.demo.kdn.options import KdnOptions
from cacheroute.demo.kdn.service import Service
from cacheroute.demo.kdn.texts import Texts
from cacheroute.formats.address import Address
from cacheroute.member.listeners import listeners_at

_LIMITS = Limits(body_bytes=8 * 1024 * 1024, connections=2048)
_TIMEOUTS = Timeouts()

_MIB = 1024 * 1024


class Node:
    """One knowledge node."""

    def __init__(self, options: KdnOptions) -> None:
        self.options = options
        self.database = Database(options.db)
        self.texts = Texts(self.database, max_texts=options.max_texts)
        self.kv = Kv(self.database, max_bytes=round(options.max_kv_mb * _MIB))
        self.link = Link(options.link)
        self.faults = Faults()
        redis = Allowed(options.redis, what="Redis", option="--redis")
        engines = Allowed(options.engines, what="the engine", option="--engine")
        self.injecting = Injecting(texts=self.texts, kv=self.kv, link=self.link, redis=redis)
        self.building = Building(
            texts=self.texts,
            kv=self.kv,
            redis=redis,
            engines=engines,
            kv_root=self.database.path,
            settle_s=options.settle_s,
        )
        self.service = Service(
            texts=self.texts,
            injecting=self.injecting,
            building=self.building,
            link=self.link,
            faults=self.faults,
            identity=self.identity,
            database=self.database.path,
        )
        self._server = HttpServer(self.service.on_request, limits=_LIMITS, timeouts=_TIMEOUTS)

    @property
    def port(self) -> int:
        """The port that is listened on."""
        return self._server.port

    def identity(self) -> tuple[str, str, int]:
        """Return the id, the host and the port that others know."""
        host = self.options.advertised_host
        port = self.options.advertise_port or self.port
        return self.options.kdn_id or f"kdn_{host}:{port}", host, port

    async def open(self) -> None:
        """Open the database and listen; raises CannotListen or sqlite3.Error, holding nothing."""
        try:
            await self.database.open()
            [listeners] = listeners_at(Address(self.options.host, self.options.port))
            await self._server.start(listeners=listeners)
        except BaseException:
            await self.database.close()
            raise

    async def close(self) -> None:
        """Let running answers end for a while, then stop."""
        await self._server.stop(self.options.grace_s)
        await self.service.answering.close()
        await self.database.close()
