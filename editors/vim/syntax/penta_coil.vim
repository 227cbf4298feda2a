" Colours of COIL intermediate language object, written by scripts/grammars from the tables of instructions.
if exists("b:current_syntax")
  finish
endif
syntax case match
syntax match penta_coilConstantNumeric '\v-?<%(0[xX][0-9A-Fa-f_]+|0[bB][01_]+|[0-9][0-9_]*%(\.[0-9]+)?)>'
highlight default link penta_coilConstantNumeric Number
syntax match penta_coilKeywordMnemonic '\c\v%([A-Za-z0-9_.])@<!%(ATOMCMPXCHG|ATOMNOTIFY|STOREALIGN|ATOMFENCE|LOADALIGN|ATOMDECR|ATOMINCR|ATOMWAIT|ATOMXCHG|DEVCPUID|DEVRESET|DEVUNMAP|ALIGNOF|ATOMADD|ATOMAND|ATOMMAX|ATOMMIN|ATOMSUB|ATOMXOR|CACHEOP|DEVINFO|DEVSTAT|DEVWAIT|EXTRACT|MEMADDR|MEMZERO|OUTPORT|PPENDIF|PPMACRO|PPUNDEF|ATOMLD|ATOMOR|ATOMST|BITCHK|BITCLR|BITSET|BITTGL|DEVCFG|DEVCTL|DEVINT|DEVMAP|DIVMOD|INPORT|INSERT|INTACK|INTDIS|INTENA|MEMCPY|MEMGET|MEMPUT|MEMSET|POPCNT|PPCOND|PPELSE|PPEVAL|PPTARG|SIZEOF|STRDEF|SWITCH|TYPEAL|UNIDEF|ALLOC|BSWAP|CLAMP|CROSS|DTYPE|PPDEF|PPINC|SCOPE|SCOPL|TRANS|VECOP|ADDC|CALL|CAST|CEIL|DIAG|FLOR|FREE|GETE|HALT|MULH|NORM|PPIF|PUSH|ROND|SETE|SHUF|SQRT|SUBB|TEST|TRAP|TYPE|XCHG|ABS|ADD|AND|CAS|CMP|COL|DEC|DET|DIV|DOT|FMA|INC|INV|JMP|LEA|LEN|MAX|MIN|MOD|MOV|MUL|NEG|NOP|NOT|POP|RET|ROL|ROR|ROW|SAL|SAR|SHL|SHR|SUB|VAR|XOR|BR|OR)%([A-Za-z0-9_])@!'
highlight default link penta_coilKeywordMnemonic Statement
syntax match penta_coilVariableLanguageRegister '\v\%[A-Za-z_0-9]+|<[vV]%(1[0-5]|[0-9])>'
highlight default link penta_coilVariableLanguageRegister Identifier
syntax match penta_coilEntityNameFunction '\v\@[A-Za-z_.][A-Za-z0-9_.]*'
highlight default link penta_coilEntityNameFunction Function
syntax match penta_coilEntityNameLabel '\v^\s*[@.]?[A-Za-z_$][A-Za-z0-9_.$]*:'
highlight default link penta_coilEntityNameLabel Label
syntax match penta_coilKeywordControlDirective '\v^\s*[.%][A-Za-z_]+>%(\s*:)@!'
highlight default link penta_coilKeywordControlDirective PreProc
syntax region penta_coilStringQuotedDouble start=+"+ skip=+\\.+ end=+"+ oneline
highlight default link penta_coilStringQuotedDouble String
syntax match penta_coilCommentLine '\v;.*$'
highlight default link penta_coilCommentLine Comment
let b:current_syntax = "penta_coil"
