" Written by scripts/grammars: the text of which format a file has, by its suffix.
autocmd BufNewFile,BufRead *.kasm set filetype=penta_kblob
autocmd BufNewFile,BufRead *.pvmasm set filetype=penta_pvm
autocmd BufNewFile,BufRead *.cvasm set filetype=penta_cvbc
autocmd BufNewFile,BufRead *.tasm set filetype=penta_tvmr
autocmd BufNewFile,BufRead *.casm set filetype=penta_coil
