" :make assembles the file into one beside it with the name of the format as suffix; what penta says goes to the list of errors.
" g:penta_path names the tool where it is not in PATH.
if exists("current_compiler")
  finish
endif
let current_compiler = "penta"

let s:tool = fnameescape(get(g:, "penta_path", "penta"))
execute "CompilerSet makeprg=" . escape(s:tool . " asm $* %:S -o %:r:S." . substitute(&filetype, "^penta_", "", ""), " \\|\"")
CompilerSet errorformat=%Eerror%m,%Wwarning%m,%Iinfo%m,%Z\ \ -->\ %f:%l:%c,%-G%.%#
