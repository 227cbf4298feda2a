// Drives penta dap with @vscode/debugadapter-testsupport: a program of each format, in both directions.
const assert = require("assert");
const fs = require("fs");
const path = require("path");
const { execFileSync } = require("child_process");
const { DebugClient } = require("@vscode/debugadapter-testsupport");

const penta = process.argv[2];

function make(name, text, ...command) {
    fs.writeFileSync(name, text);
    execFileSync(penta, [...command, name, "-o", name + ".out"]);
    return { program: path.resolve(name + ".out"), source: path.resolve(name) };
}

async function withClient(test) {
    const dc = new DebugClient(penta, "dap", "penta");
    dc.defaultTimeout = 20000;
    await dc.start();
    try {
        await test(dc);
    } finally {
        await dc.stop();
    }
}

async function value(dc, expression) {
    return (await dc.evaluateRequest({ expression, context: "watch" })).body.result;
}

// A request that moves, and the stop after it.
async function move(dc, request, args) {
    const stopped = dc.waitForEvent("stopped");
    await dc.send(request, { threadId: 1, ...args });
    return (await stopped).body;
}

const tests = {
    async "coil: a breakpoint at a line, locals, lines in both directions"() {
        const { program, source } = make("sum.casm", `.global main
.func square
    MUL v1, v1
    RET
.endfunc
.func main
    VAR %i, i32, 1
    VAR %sum, i64, 0
.next:
    CMP %i, 3
    BR GT, @.done
    MOV v1, %i
    CALL @square
    ADD %sum, v1
    INC %i
    BR @.next
.done:
    MOV v0, %sum
    RET
.endfunc
`, "asm", "-g");
        await withClient(async (dc) => {
            await dc.hitBreakpoint({ program }, { path: source, line: 14 });
            const frames = (await dc.stackTraceRequest({ threadId: 1 })).body.stackFrames;
            const scopes = (await dc.scopesRequest({ frameId: frames[0].id })).body.scopes;
            assert.deepStrictEqual(scopes.map((s) => s.name), ["Locals", "Registers", "Machine"]);
            const locals = (await dc.variablesRequest({ variablesReference: scopes[0].variablesReference })).body.variables;
            assert.strictEqual(locals.length, 2);
            await Promise.all([dc.nextRequest({ threadId: 1 }), dc.assertStoppedLocation("step", { line: 15 })]);
            await Promise.all([dc.stepBackRequest({ threadId: 1 }), dc.assertStoppedLocation("step", { line: 14 })]);
            await dc.setBreakpointsRequest({ source: { path: source }, breakpoints: [] });
            await Promise.all([dc.continueRequest({ threadId: 1 }), dc.waitForEvent("terminated")]);
        });
    },
    async "pvm: functions, registers, the way out of a call, a host call that waits"() {
        const { program } = make("calls.pvmasm", `%isa = latest64
%stack_size = 4096
%import "report"
%export "main" = @main
%export "leaf" = @leaf
@main:
    sp = sp - 16
    u64 [sp + 8] = ra
    a0 = 3
    ra = @back, jump @leaf
@back:
    ecalli 0
    ra = u64 [sp + 8]
    sp = sp + 16
    ret
@leaf:
    a0 = a0 + a0
    ret
`, "asm");
        await withClient(async (dc) => {
            await Promise.all([
                dc.waitForEvent("initialized").then(() => dc.setFunctionBreakpointsRequest({ breakpoints: [{ name: "leaf" }] }))
                    .then(() => dc.configurationDoneRequest()),
                dc.launch({ program, options: { call: "main" }, stopOnExit: true }),
                dc.assertStoppedLocation("function breakpoint", {}),
            ]);
            assert.strictEqual(await value(dc, "a0"), "0x3");
            await move(dc, "stepOut");
            assert.strictEqual(await value(dc, "a0"), "0x6");
            assert.strictEqual((await move(dc, "continue")).reason, "exception");
            await move(dc, "evaluate", { expression: "answer 7", context: "repl" });
            assert.strictEqual((await move(dc, "continue")).description, "halt");
            assert.strictEqual((await move(dc, "reverseContinue")).reason, "function breakpoint");
        });
    },
    async "cvbc: data breakpoints on a global, output of the program"() {
        const { program } = make("total.ino", `int total = 0;
void setup() {
    for (int i = 0; i < 3; i++) {
        total = total + i;
    }
    printf("total %d\\n", total);
}
void loop() { }
`, "compile");
        await withClient(async (dc) => {
            await Promise.all([dc.waitForEvent("initialized").then(() => dc.configurationDoneRequest()),
                dc.launch({ program, options: { budget: 1000 }, stopOnEntry: true }), dc.waitForEvent("stopped")]);
            await dc.setFunctionBreakpointsRequest({ breakpoints: [{ name: "setup" }] });
            await move(dc, "continue");
            const info = (await dc.send("dataBreakpointInfo", { name: "total" })).body;
            const set = (await dc.send("setDataBreakpoints", { breakpoints: [{ dataId: info.dataId, accessType: "write" }] })).body.breakpoints;
            assert.ok(set[0].verified);
            assert.strictEqual((await move(dc, "continue")).reason, "data breakpoint");
            await move(dc, "continue");
            assert.strictEqual(await value(dc, "total"), "1");
            await dc.send("setDataBreakpoints", { breakpoints: [] });
            await Promise.all([dc.assertOutput("stdout", "total 3"), move(dc, "continue")]);
        });
    },
    async "tvmr: tensors in pieces"() {
        const { program } = make("twice.tasm", `.registers
    H0: i32[100]
    H1: i32[100]
.program
    add H1, H0, H0
    halt
`, "asm");
        await withClient(async (dc) => {
            await Promise.all([dc.waitForEvent("initialized").then(() => dc.configurationDoneRequest()),
                dc.launch({ program, stopOnExit: true }), dc.waitForEvent("stopped")]);
            let reference = (await dc.scopesRequest({ frameId: 1 })).body.scopes.find((s) => s.name === "Machine").variablesReference;
            for (const name of ["registers", "H1", "data"]) {
                const list = (await dc.variablesRequest({ variablesReference: reference })).body.variables;
                const found = list.find((v) => v.name === name);
                if (name === "data") assert.strictEqual(found.indexedVariables, 100);
                reference = found.variablesReference;
            }
            const part = (await dc.variablesRequest({ variablesReference: reference, filter: "indexed", start: 98, count: 5 })).body.variables;
            assert.deepStrictEqual(part.map((v) => v.name), ["value[98]", "value[99]"]);
        });
    },
    async "kblob: memory, disassembly, instruction breakpoints"() {
        const { program } = make("fill.kasm", "    WRITE64 0x10000, 0x11223344\n    WRITE8 0x10008, 5\n    HALT\n", "asm");
        await withClient(async (dc) => {
            await Promise.all([dc.waitForEvent("initialized").then(() => dc.configurationDoneRequest()),
                dc.launch({ program, options: { map: "0x10000:64" }, stopOnEntry: true }), dc.waitForEvent("stopped")]);
            const code = (await dc.send("disassemble", { memoryReference: "0x0", instructionCount: 3 })).body.instructions;
            assert.match(code[2].instruction, /HALT/);
            await dc.send("setInstructionBreakpoints", { breakpoints: [{ instructionReference: code[2].address }] });
            assert.strictEqual((await move(dc, "continue")).reason, "instruction breakpoint");
            const memory = (await dc.send("readMemory", { memoryReference: "0x10000", count: 9 })).body.data;
            assert.strictEqual(Buffer.from(memory, "base64").toString("hex"), "443322110000000005");
            await move(dc, "stepBack", { granularity: "instruction" });
        });
    },
};

(async () => {
    let failed = 0;
    for (const [name, test] of Object.entries(tests)) {
        try {
            await test();
        } catch (error) {
            failed++;
            console.log(`FAIL ${name}: ${error.stack}`);
        }
    }
    console.log(`${Object.keys(tests).length - failed} passed, ${failed} failed`);
    process.exit(failed ? 1 : 0);
})();
