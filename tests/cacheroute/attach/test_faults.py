from cacheroute.attach import faults
from cacheroute_cli.diagnostics import Exit


def test_the_exit_codes_are_those_of_the_command_line() -> None:
    expected: dict[type[faults.AttachFault], int] = {
        faults.AttachFault: Exit.FAILED,
        faults.NotAnswering: Exit.UNREACHABLE,
        faults.ModelNotServed: Exit.USAGE,
        faults.Taken: Exit.CONFLICT,
        faults.KeyWanted: Exit.NOT_ALLOWED,
        faults.NotUnderstood: Exit.NOT_UNDERSTOOD,
    }

    kinds: list[type[faults.AttachFault]] = [faults.AttachFault]
    kinds += faults.AttachFault.__subclasses__()

    assert {kind: kind.exit_code for kind in kinds} == expected
