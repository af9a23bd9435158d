"""What an Instance can do, as it registers it: model, tokenizer, KV-cache layout, engine.

Unknown keys are refused, since both sides must digest the same object. A null means the
same as leaving the key out.
"""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from cacheroute.wire.fields import MAX_LIST_ITEMS, JsonObject, Positive, Text, Word


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _null_is_absent(cls, value: object) -> object:
        if isinstance(value, dict):
            return {key: item for key, item in value.items() if item is not None}
        return value


class Identity(_Part):
    """A model or a tokenizer by name."""

    identifier: Text | None = None
    revision: Text | None = None


class Adapter(_Part):
    """One adapter on the model; their order counts."""

    identifier: Word
    revision: Text | None = None
    configuration: JsonObject | None = None
    configuration_hash: Text | None = None


class KvCache(_Part):
    """How the engine lays its KV cache out."""

    layout: Text | None = None
    schema_version: Text | None = None
    dtype: Text | None = None
    block_size: Positive | None = None
    layout_parameters: JsonObject = Field(default_factory=dict)


class Parallelism(_Part):
    """Over how many devices the model is spread."""

    tensor_parallel_size: Positive | None = None
    pipeline_parallel_size: Positive | None = None
    data_parallel_size: Positive | None = None


class Runtime(_Part):
    """The engine itself."""

    vllm_version: Text | None = None
    lmcache_version: Text | None = None
    supported_cache_features: list[Word] = Field(default_factory=list, max_length=MAX_LIST_ITEMS)


class Capabilities(_Part):
    """The whole object; empty, it still has all seven keys."""

    schema_version: Literal["1"] = "1"
    model: Identity = Field(default_factory=Identity)
    tokenizer: Identity = Field(default_factory=Identity)
    adapters: list[Adapter] = Field(default_factory=list, max_length=MAX_LIST_ITEMS)
    kv_cache: KvCache = Field(default_factory=KvCache)
    parallelism: Parallelism = Field(default_factory=Parallelism)
    runtime: Runtime = Field(default_factory=Runtime)

    def as_stored(self) -> dict[str, object]:
        """Return every key, nulls included, as lists and digests want it."""
        return self.model_dump(mode="json")
