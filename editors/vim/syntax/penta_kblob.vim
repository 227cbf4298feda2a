" Colours of mock-GPU kernel blob, written by scripts/grammars from the tables of instructions.
if exists("b:current_syntax")
  finish
endif
syntax case match
syntax match penta_kblobConstantNumeric '\v-?<%(0[xX][0-9A-Fa-f_]+|0[bB][01_]+|[0-9][0-9_]*%(\.[0-9]+)?)>'
highlight default link penta_kblobConstantNumeric Number
syntax match penta_kblobKeywordMnemonic '\c\v%([A-Za-z0-9_.])@<!%(WRITE64|AADD32|AADD64|MEMSET|READ64|WRITE8|CAS32|CAS64|READ8|SLEEP|BGES|BGEU|BLTS|BLTU|DIVS|DIVU|HALT|LD16|LD32|LD64|LOOP|MAXS|MAXU|MINS|MINU|NEXT|REMS|REMU|SLES|SLEU|SLTS|SLTU|ST16|ST32|ST64|ADD|AND|ARG|BAR|BEQ|BNE|JMP|LD8|MOV|MUL|NOP|SAR|SEL|SEQ|SHL|SHR|SNE|ST8|SUB|XOR|ID|OR)%([A-Za-z0-9_])@!'
highlight default link penta_kblobKeywordMnemonic Statement
syntax match penta_kblobVariableLanguageRegister '\v<[rR]\d+>'
highlight default link penta_kblobVariableLanguageRegister Identifier
syntax match penta_kblobEntityNameFunction '\v\@[A-Za-z_.][A-Za-z0-9_.]*'
highlight default link penta_kblobEntityNameFunction Function
syntax match penta_kblobEntityNameLabel '\v^\s*[@.]?[A-Za-z_$][A-Za-z0-9_.$]*:'
highlight default link penta_kblobEntityNameLabel Label
syntax match penta_kblobKeywordControlDirective '\v^\s*[.%][A-Za-z_]+>%(\s*:)@!'
highlight default link penta_kblobKeywordControlDirective PreProc
syntax region penta_kblobStringQuotedDouble start=+"+ skip=+\\.+ end=+"+ oneline
highlight default link penta_kblobStringQuotedDouble String
syntax match penta_kblobCommentLine '\v;.*$'
highlight default link penta_kblobCommentLine Comment
let b:current_syntax = "penta_kblob"
