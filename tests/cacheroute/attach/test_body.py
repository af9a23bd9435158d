"""What a registration says of a server, read as the Proxy reads it."""

from cacheroute.attach.body import registration
from cacheroute.attach.options import AttachOptions
from cacheroute.attach.server import Description, ModelCard
from cacheroute.core.pool_upsert import MAX_META_BYTES
from cacheroute.formats.address import Origin
from cacheroute.formats.engine_metrics import EngineStats, read_engine_metrics
from cacheroute.planes.registering import instance_of
from cacheroute.wire.instances import RegisterBody
from tests.cacheroute.attach import captured

HERE = AttachOptions(origin=Origin("10.0.0.7", 8000))
VLLM = Description(
    model="tiny",
    cards=(ModelCard(name="tiny", max_model_len=8192), ModelCard(name="lora", parent="tiny")),
    endpoints=("chat/completions", "tokenize"),
    kind="vllm",
    version="0.32.0",
    stats=read_engine_metrics(captured.metrics().decode()),
)
UNKNOWN = Description(
    model="m",
    cards=(ModelCard(name="m"),),
    endpoints=("completions",),
    kind=None,
    version=None,
    stats=EngineStats(),
)


def test_a_vllm_is_registered_with_all_that_it_told() -> None:
    body = RegisterBody.model_validate(registration(HERE, VLLM))

    instance = instance_of(body, 0.0)
    assert (instance.instance_id, instance.host, instance.port) == (
        "hp_10.0.0.7:8000", "10.0.0.7", 8000,
    )  # fmt: skip
    assert instance.endpoints == ("chat/completions", "tokenize")
    assert body.meta["models"] == ["tiny", "lora"]
    assert body.meta["max_model_len"] == 8192
    assert (body.meta["engine"], body.meta["engine_version"]) == ("vllm", "0.32.0")
    assert body.meta["cp_port"] == 8000
    capabilities = body.capabilities
    assert capabilities is not None
    assert (capabilities.model.identifier, capabilities.kv_cache.block_size) == ("tiny", 32)
    assert [adapter.identifier for adapter in capabilities.adapters] == ["lora"]
    assert capabilities.runtime.vllm_version == "0.32.0"
    assert capabilities.runtime.supported_cache_features == ["prefix_caching"]


def test_what_nobody_knows_is_left_out() -> None:
    body = registration(HERE, UNKNOWN)

    meta, capabilities = body["meta"], body["capabilities"]
    assert isinstance(meta, dict)
    assert isinstance(capabilities, dict)
    assert not {"engine", "engine_version", "max_model_len"} & set(meta)
    assert (capabilities["kv_cache"], capabilities["runtime"]) == ({}, {})


def test_a_base_path_reaches_the_proxy() -> None:
    options = AttachOptions(origin=Origin("h", 8000, "/base"), tags=("a",), weight=2.0)

    body = RegisterBody.model_validate(registration(options, UNKNOWN))

    instance = instance_of(body, 0.0)
    assert (instance.host, instance.port, instance.base_path) == ("h", 8000, "/base")
    assert (instance.instance_id, instance.tags, instance.weight) == ("hp_h:8000/base", ("a",), 2.0)


def test_a_thousand_models_fit_into_a_registration() -> None:
    cards = tuple(ModelCard(name=f"{n:0400d}", parent="m" if n else None) for n in range(1024))
    server = Description(
        model=cards[0].name,
        cards=cards,
        endpoints=(),
        kind="vllm",
        version="0.32.0",
        stats=EngineStats(),
    )

    body = RegisterBody.model_validate(registration(HERE, server))

    assert len(str(body.meta)) < MAX_META_BYTES
