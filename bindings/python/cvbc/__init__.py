"""CockpitVM containers: make, sign, seal, load, verify, assemble, compile and run them.

    import cvbc

    container = cvbc.Container()
    container.set_target(architecture=cvbc.ARCH_ARM, family=cvbc.FAMILY_STM32, variant=0x0431)
    container.add_pin_config(pin_number=13, port='C', function=cvbc.PIN_FUNC_GPIO, mode=cvbc.PIN_MODE_OUTPUT)
    container.set_bytecode(cvbc.assemble("PUSH 1\\nHALT\\n"))
    container.save("program.cvbc", sign_with_key="private_key.pem", compression=True)

    again = cvbc.load("program.cvbc", trusted_keys=["public_key.pem"], require_signature=True)
    print(cvbc.run(again).stack)
"""
from typing import List

from . import constants
from .constants import Status
from .container import Container, load
from .errors import CVBCError, DecryptError, FormatError, SignatureError, TargetError
from .keys import Key, generate_key, load_key
from .records import (Dependency, HardwareRequirements, Hint, Instruction, Line, Metadata, Pin, Report, Signature,
                      Symbol, Variable)
from .tools import (Hal, HardwareFault, Result, assemble, boards, check, check_board, check_program, combine, compile,
                    convert_legacy, disassemble, programs, quick_check, run, sign, trinity, verify)


def __getattr__(name: str) -> int:
    """The numbers of the format: cvbc.ARCH_ARM and all the others of cvbc.constants."""
    if not name.isupper():
        raise AttributeError(name)
    number: int = getattr(constants, name)
    return number


def __dir__() -> List[str]:
    return sorted([*globals(), *constants.all_names()])
