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

exports.activate = (context) => {
    context.subscriptions.push(vscode.debug.registerDebugAdapterDescriptorFactory("penta", factory));
    context.subscriptions.push(vscode.debug.registerDebugConfigurationProvider("penta", provider));
};
exports.deactivate = () => undefined;
