"""The columns of hosts on a screen: figures, or bars; what nobody has reported is a `?`."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from cacheroute.console.amounts import render_duration
from cacheroute.console.bars import bar
from cacheroute.console.cells import UNTOLD
from cacheroute.console.columns import Column, Tone
from cacheroute.console.rows.instances import FleetRow
from cacheroute.console.rows.resources import RESOURCES, ResourceRow
from cacheroute.console.rows.states import SIGNS, TONES
from cacheroute.console.rules import Rules

_SHAPES: dict[str, tuple[str, int | None, int]] = {
    "id": ("ID", None, 0),
    "host": ("HOST", None, 9),
    "cpu_util": ("CPU", 4, 3),
    "memory_util": ("MEM", 4, 2),
    "memory_used_mb": ("USED", 6, 8),
    "memory_total_mb": ("OF", 6, 8),
    "gpu_util": ("GPU", 4, 1),
    "gpu_util_max": ("MAX", 4, 4),
    "gpu_memory_util": ("GMEM", 4, 4),
    "gpu_memory_used_mb": ("G-USED", 6, 8),
    "gpu_memory_total_mb": ("G-OF", 6, 8),
    "network_rx_mbps": ("RX Mbps", 7, 5),
    "network_tx_mbps": ("TX Mbps", 7, 5),
    "gpu_sample_quality": ("QUALITY", 8, 7),
    "admission_state": ("ADM", 4, 2),
    "report_age_s": ("AGE", 6, 0),
}
"""Header, width and rank of each on a screen, where every cell counts."""

_FIGURES = (
    "sign", "id", "state", "cpu_util", "memory_util", "gpu_util", "gpu_util_max",
    "gpu_memory_util", "network_rx_mbps", "network_tx_mbps", "admission_state", "report_age_s",
)  # fmt: skip
_WIDE = (
    "sign", "id", "host", "state", "cpu_util", "memory_util", "memory_used_mb", "memory_total_mb",
    "gpu_util", "gpu_util_max", "gpu_memory_util", "gpu_memory_used_mb", "gpu_memory_total_mb",
    "network_rx_mbps", "network_tx_mbps", "gpu_sample_quality", "admission_state", "report_age_s",
)  # fmt: skip
_BARS = (
    "sign", "id", "cpu_util", "memory_util", "gpu_util", "gpu_memory_util", "admission_state",
    "report_age_s",
)  # fmt: skip
_SHARES = frozenset(("cpu_util", "memory_util", "gpu_util", "gpu_util_max", "gpu_memory_util"))
_RATES = frozenset(("network_rx_mbps", "network_tx_mbps"))
_WHOLE_FROM = 1_000
"""From here on a rate has no room for a point."""
_ADMISSION: dict[str, tuple[str, Tone]] = {
    "accepting": ("acc", "plain"),
    "degraded": ("deg!", "warn"),
    "rejecting": ("rej!", "bad"),
}


def resource_columns(
    *,
    is_wide: bool,
    bar_cells: int,
    fleet_row: Callable[[str], FleetRow | None],
    since_s: Callable[[], float],
    rules: Rules,
    as_ascii: bool,
) -> Sequence[Column[ResourceRow]]:
    """Return the columns, left to right; with `bar_cells` shares are bars so wide."""
    names = _BARS if bar_cells else _WIDE if is_wide else _FIGURES

    def column(name: str) -> Column[ResourceRow]:
        if name in ("sign", "state"):
            return _of_state(name, fleet_row)
        if name == "report_age_s":
            return _age(since_s, rules)
        found = _narrowed(name)
        if bar_cells and name in _SHARES:
            found = _as_bar(found, bar_cells, as_ascii=as_ascii)
        return found

    return [column(name) for name in names]


def _narrowed(name: str) -> Column[ResourceRow]:
    column = RESOURCES.column(name)
    header, width, rank = _SHAPES[name]
    text, read = column.text, column.reader()

    def shown(row: ResourceRow) -> str:
        value = read(row)
        if value is None:
            return UNTOLD
        if name == "admission_state":
            return _ADMISSION.get(str(value), (str(value), "plain"))[0]
        if name in _RATES and isinstance(value, float) and value >= _WHOLE_FROM:
            return f"{value:.0f}"
        return text(row).replace("%", "") if name in _SHARES else text(row)

    tone = column.tone
    if name == "admission_state":
        tone = _admission_tone
    return replace(
        column, header=header, width=width, rank=rank, text=shown, tone=tone,
        gives_way=name in ("id", "host"), unknown=f"Nobody has reported it: {UNTOLD}, not 0.",
    )  # fmt: skip


def _admission_tone(row: ResourceRow) -> Tone:
    return _ADMISSION.get(row.admission_state or "", ("", "dim"))[1]


def _of_state(name: str, fleet_row: Callable[[str], FleetRow | None]) -> Column[ResourceRow]:
    def shown(row: ResourceRow) -> str:
        found = fleet_row(row.id)
        if found is None:
            return UNTOLD
        return SIGNS[found.shown] if name == "sign" else found.shown

    def tone(row: ResourceRow) -> Tone:
        found = fleet_row(row.id)
        return "dim" if found is None else TONES[found.shown]

    is_sign = name == "sign"
    return Column(
        key=name,
        header=" " if is_sign else "STATE",
        text=shown,
        value=shown,
        doc="How the Instance is.",
        width=1 if is_sign else 7,
        rank=0 if is_sign else 6,
        tone=tone,
    )


def _age(since_s: Callable[[], float], rules: Rules) -> Column[ResourceRow]:
    def age_s(row: ResourceRow) -> float | None:
        return None if row.report_age_s is None else row.report_age_s + since_s()

    def shown(row: ResourceRow) -> str:
        age = age_s(row)
        return UNTOLD if age is None else render_duration(age)

    def tone(row: ResourceRow) -> Tone:
        age = age_s(row)
        if age is None:
            return "dim"
        return "warn" if age > rules.report_age_s else "plain"

    return replace(_narrowed("report_age_s"), text=shown, tone=tone)


def _as_bar(column: Column[ResourceRow], width: int, *, as_ascii: bool) -> Column[ResourceRow]:
    read, figure = column.reader(), column.text

    def shown(row: ResourceRow) -> str:
        value = read(row)
        share = value if isinstance(value, int | float) else None
        return f"{figure(row):>4} {bar(share, width, as_ascii=as_ascii)}"

    return replace(column, text=shown, width=width + 5, rank=0, right=False)
