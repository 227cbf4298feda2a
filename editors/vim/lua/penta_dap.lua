-- Makes nvim-dap use `penta dap`: require("penta_dap").setup(), with { path = "/where/penta" } where it is not in PATH.
local M = {}

-- The file types of the text of the formats: those that have a file of colours beside this one.
local function filetypes()
  local found = {}
  for _, file in ipairs(vim.api.nvim_get_runtime_file("syntax/penta_*.vim", true)) do
    table.insert(found, vim.fn.fnamemodify(file, ":t:r"))
  end
  return found
end

local function ask(what)
  return function()
    return vim.fn.input(what .. ": ", vim.fn.getcwd() .. "/", "file")
  end
end

local configurations = {
  { type = "penta", request = "launch", name = "penta: program", program = ask("Program"), stopOnEntry = true },
  { type = "penta", request = "attach", name = "penta: recorded run", program = ask("Program"), record = ask("Record") },
}

function M.setup(options)
  local dap = require("dap")
  local path = options and options.path or "penta"
  dap.adapters.penta = function(callback, configuration)
    if configuration.port then
      callback({ type = "server", host = configuration.host or "127.0.0.1", port = configuration.port })
    else
      callback({ type = "executable", command = path, args = { "dap" } })
    end
  end
  for _, filetype in ipairs(filetypes()) do
    dap.configurations[filetype] = configurations
  end
end

return M
