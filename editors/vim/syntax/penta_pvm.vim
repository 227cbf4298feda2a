" Colours of PolkaVM program, written by scripts/grammars from the tables of instructions.
if exists("b:current_syntax")
  finish
endif
syntax case match
syntax match penta_pvmConstantNumeric '\v-?<%(0[xX][0-9A-Fa-f_]+|0[bB][01_]+|[0-9][0-9_]*%(\.[0-9]+)?)>'
highlight default link penta_pvmConstantNumeric Number
syntax match penta_pvmKeywordMnemonic '\c\v%([A-Za-z0-9_.])@<!%(fallthrough|unlikely|invalid|reverse|ecalli|memset|mulhsu|sext16|zext16|mulhu|sext8|cpop|jump|maxs|maxu|mins|minu|mulh|sbrk|trap|clz|ctz|i16|i32|i64|nop|ret|tmp|u16|u32|u64|i8|if|u8)%([A-Za-z0-9_])@!'
highlight default link penta_pvmKeywordMnemonic Statement
syntax match penta_pvmVariableLanguageRegister '\v<%(ra|sp|t[0-2]|s[01]|a[0-5])>'
highlight default link penta_pvmVariableLanguageRegister Identifier
syntax match penta_pvmEntityNameFunction '\v\@[A-Za-z_.][A-Za-z0-9_.]*'
highlight default link penta_pvmEntityNameFunction Function
syntax match penta_pvmEntityNameLabel '\v^\s*[@.]?[A-Za-z_$][A-Za-z0-9_.$]*:'
highlight default link penta_pvmEntityNameLabel Label
syntax match penta_pvmKeywordControlDirective '\v^\s*[.%][A-Za-z_]+>%(\s*:)@!'
highlight default link penta_pvmKeywordControlDirective PreProc
syntax region penta_pvmStringQuotedDouble start=+"+ skip=+\\.+ end=+"+ oneline
highlight default link penta_pvmStringQuotedDouble String
syntax match penta_pvmCommentLine '\v//.*$'
highlight default link penta_pvmCommentLine Comment
let b:current_syntax = "penta_pvm"
