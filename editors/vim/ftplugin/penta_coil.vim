" Written by scripts/grammars. :make assembles the file, and the list of errors has what penta says.
if exists("b:did_ftplugin")
  finish
endif
let b:did_ftplugin = 1
setlocal commentstring=;\ %s comments=:;
compiler penta
let b:undo_ftplugin = "setlocal commentstring< comments< makeprg< errorformat<"
