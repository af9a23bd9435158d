"""Instances that are named in the settings: static ones, which never expire.

Two ways in, one value out. `pool.instances` holds base URLs, each with an optional key
behind a comma; `backends` is the gateway's list, with a name and options for each.
"""

import re
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, InstanceOf, SecretStr
from pydantic.types import NonNegativeFloat

from cacheroute.formats.address import Origin, parse_base_url
from cacheroute.settings.constraints import Count, Name, UrlPath, header_secret

SEPARATOR = re.compile(r",(?!\s*api_key=)")
"""What parts one Instance from the next in a line of text; a key belongs to the URL before it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StaticInstance:
    """One Instance that the settings name."""

    name: str
    """What it is called everywhere; the address where no name was given."""
    origin: Origin
    """Where it is reached."""
    api_key: SecretStr | None = None
    """Key sent instead of the client's; None forwards what the client sent."""
    model_name: str | None = None
    """Model that replaces the one of the request; None passes it on."""
    max_concurrent: int | None = None
    """Most requests at once; None is no limit."""
    health_endpoint: str | None = None
    """Path that is probed; None is the choice of the pool."""


def parse_static_instance(given: object) -> StaticInstance:
    """Read `http://10.0.0.7:8000` or `http://10.0.0.7:8000,api_key=…`."""
    if isinstance(given, StaticInstance):
        return given
    if not isinstance(given, str):
        raise ValueError("must be base URLs, such as http://10.0.0.7:8000")
    url, comma, option = given.partition(",")
    key = None
    if comma:
        option_name, _, key_text = option.strip().partition("=")
        if option_name != "api_key":
            raise ValueError("only api_key=env:NAME may follow the URL of an Instance")
        key = SecretStr(header_secret(key_text))
    origin = parse_base_url(url)
    return StaticInstance(name=f"{origin.authority}{origin.base_path}", origin=origin, api_key=key)


def _origin(given: object) -> object:
    return parse_base_url(given) if isinstance(given, str) else given


def _api_key(given: object) -> object:
    return SecretStr(header_secret(given)) if isinstance(given, str) else given


def _openai_type(given: object) -> object:
    if given in ("gemini", "ollama"):
        raise ValueError(
            f"this version speaks the OpenAI paths only, not those of {given}: "
            "use vllm or openai where the server offers /v1/chat/completions"
        )
    return given


StaticUrl = Annotated[InstanceOf[StaticInstance], BeforeValidator(parse_static_instance)]
BaseUrl = Annotated[InstanceOf[Origin], BeforeValidator(_origin)]
ApiKey = Annotated[SecretStr, BeforeValidator(_api_key)]
Type = Annotated[Literal["vllm", "openai"], BeforeValidator(_openai_type)]


class Backend(BaseModel):
    """One entry of the gateway's `backends` list."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    name: Name
    """Name of the Instance, unique in the list."""
    url: BaseUrl
    """Where it is: `host:port` or a base URL."""
    type: Type | None = None
    """Kind of server, `vllm` or `openai`; decides which path is probed."""
    model_name: str | None = None
    """Model that replaces the one of the request; empty passes it on."""
    max_concurrent: Count | None = None
    """Most requests at once; empty is no limit."""
    api_key: ApiKey | None = None
    """Key sent instead of the client's; empty forwards what the client sent."""
    health_endpoint: UrlPath | None = None
    """Path that is probed; `/v1/models` for vllm, else what the pool says."""
    cost_input_1m: NonNegativeFloat = 0.0
    """US dollars per million prompt tokens; read and kept, not used yet."""
    cost_output_1m: NonNegativeFloat = 0.0
    """US dollars per million answer tokens; read and kept, not used yet."""
    capabilities: tuple[str, ...] = ()
    """What the model can do; read and kept, not used yet."""
    lora_adapters: tuple[str, ...] = ()
    """Adapters it holds; read and kept, not used yet."""

    @property
    def instance(self) -> StaticInstance:
        """The Instance this entry describes."""
        return StaticInstance(
            name=self.name,
            origin=self.url,
            api_key=self.api_key,
            model_name=self.model_name or None,
            max_concurrent=self.max_concurrent,
            health_endpoint=self.health_endpoint or ("/v1/models" if self.type == "vllm" else None),
        )
