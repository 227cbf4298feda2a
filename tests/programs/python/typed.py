"""A program whose types mypy checks; only its last line is wrong."""
import penta
from penta import batch, coil, conform, cvbc, device, jam, pvm, results, tvmr

module: penta.Module = penta.open(b"", "kblob", map=["0x10000:64"])
stop: penta.Stop = module.session(host=lambda session, stop: [1, 2]).run()
kinds: str = stop.kind
good: bool = cvbc.verify(module).good
steps: int = module.session().debugger().back(3).steps
lines_done: int = batch.run("validate", ["files"], "results", jobs=2, strict=True).done
passed: int = conform.run("vectors").passed
accuracy: float = tvmr.Network(module).train([[1, 2]], [0], epochs=3).judged.accuracy
point: int = module.session().debugger().add("main", condition="a0 == 1")
names: "list[str]" = [variable.name for variable in module.session().machine.variables()]
total: int = module.session().profile().total
register: int = pvm.Pool(module).take().register("a0")
built: penta.Module = coil.Builder().finish()
linked: bytes = penta.link([("a.o", b""), ("b.a", memoryview(b""), True)], strip=True)
found: bytes = results.Sarif().write()
races: int = device.check("leaks", 1).count
wrong: int = module.format  # error
