// Starts `penta dap` as the debug adapter. There is nothing to build: VS Code loads this file as it is.
const vscode = require("vscode");

function tool() {
    return vscode.workspace.getConfiguration("penta").get("path") || "penta";
}

const factory = {
    createDebugAdapterDescriptor(session) {
        const { host, port } = session.configuration;
        if (port) return new vscode.DebugAdapterServer(port, host || "127.0.0.1");
        return new vscode.DebugAdapterExecutable(tool(), ["dap"]);
    },
};

// Without a launch.json: the file in the editor.
const provider = {
    async resolveDebugConfiguration(folder, configuration) {
        const file = vscode.window.activeTextEditor && vscode.window.activeTextEditor.document.fileName;
        if (!configuration.type && file) {
            Object.assign(configuration, { type: "penta", request: "launch", name: "penta", program: file, stopOnEntry: true });
        }
        if (!configuration.program) {
            await vscode.window.showErrorMessage("penta: launch.json names no program");
            return undefined;
        }
        return configuration;
    },
};

// A task runs the tool on one file; what it says goes through the problem matchers.
function taskOf(definition, scope) {
    const { command, file, args } = definition;
    const words = [command, file, ...(args || [])];
    return new vscode.Task(definition, scope, `${command} ${file}`, "penta", new vscode.ShellExecution(tool(), words),
        ["$penta", "$penta-file"]);
}

const taskProvider = {
    // For the file in the editor: assemble text, check everything else.
    provideTasks() {
        const editor = vscode.window.activeTextEditor;
        const folder = editor && vscode.workspace.getWorkspaceFolder(editor.document.uri);
        if (!folder) return [];
        const file = vscode.workspace.asRelativePath(editor.document.uri, false);
        const format = /^penta-(.*)$/.exec(editor.document.languageId);
        if (!format) return [taskOf({ type: "penta", command: "validate", file }, folder)];
        const output = file.replace(/\.[^./]*$/, "") + "." + format[1];
        return [taskOf({ type: "penta", command: "asm", file, args: ["-o", output] }, folder),
            taskOf({ type: "penta", command: "validate", file: output }, folder)];
    },
    resolveTask(task) {
        const { command, file } = task.definition;
        return command && file ? taskOf(task.definition, task.scope || vscode.TaskScope.Workspace) : undefined;
    },
};

exports.activate = (context) => {
    context.subscriptions.push(vscode.tasks.registerTaskProvider("penta", taskProvider));
    context.subscriptions.push(vscode.debug.registerDebugAdapterDescriptorFactory("penta", factory));
    context.subscriptions.push(vscode.debug.registerDebugConfigurationProvider("penta", provider));
};
exports.deactivate = () => undefined;
