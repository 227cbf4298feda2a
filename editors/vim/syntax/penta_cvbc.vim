" Colours of CockpitVM bytecode container, written by scripts/grammars from the tables of instructions.
if exists("b:current_syntax")
  finish
endif
syntax case match
syntax match penta_cvbcConstantNumeric '\v-?<%(0[xX][0-9A-Fa-f_]+|0[bB][01_]+|[0-9][0-9_]*%(\.[0-9]+)?)>'
highlight default link penta_cvbcConstantNumeric Number
syntax match penta_cvbcKeywordMnemonic '\c\v%([A-Za-z0-9_.])@<!%(SERIAL_AVAILABLE|DIGITAL_WRITE|I2C_AVAILABLE|ANALOG_WRITE|CREATE_ARRAY|DIGITAL_READ|SERIAL_WRITE|SPI_TRANSFER|STORE_GLOBAL|ANALOG_READ|BITWISE_AND|BITWISE_NOT|BITWISE_XOR|I2C_REQUEST|LOAD_GLOBAL|SERIAL_PEEK|SERIAL_READ|SHIFT_RIGHT|STORE_ARRAY|STORE_LOCAL|BITWISE_OR|INTERRUPTS|LOAD_ARRAY|LOAD_LOCAL|SHIFT_LEFT|I2C_BEGIN|I2C_WRITE|JMP_FALSE|I2C_PEEK|I2C_READ|JMP_TRUE|PIN_MODE|I2C_END|NO_TONE|PENDING|ATTACH|DETACH|MICROS|MILLIS|PRINTF|DELAY|CALL|EQ_S|GE_S|GT_S|HALT|LE_S|LT_S|NE_S|PUSH|TAKE|TONE|WAIT|ADD|AND|DIV|JMP|MOD|MUL|NOT|POP|RET|SUB|EQ|GE|GT|LE|LT|NE|OR)%([A-Za-z0-9_])@!'
highlight default link penta_cvbcKeywordMnemonic Statement
syntax match penta_cvbcEntityNameFunction '\v\@[A-Za-z_.][A-Za-z0-9_.]*'
highlight default link penta_cvbcEntityNameFunction Function
syntax match penta_cvbcEntityNameLabel '\v^\s*[@.]?[A-Za-z_$][A-Za-z0-9_.$]*:'
highlight default link penta_cvbcEntityNameLabel Label
syntax match penta_cvbcKeywordControlDirective '\v^\s*[.%][A-Za-z_]+>%(\s*:)@!'
highlight default link penta_cvbcKeywordControlDirective PreProc
syntax region penta_cvbcStringQuotedDouble start=+"+ skip=+\\.+ end=+"+ oneline
highlight default link penta_cvbcStringQuotedDouble String
syntax match penta_cvbcCommentLine '\v;.*$'
highlight default link penta_cvbcCommentLine Comment
let b:current_syntax = "penta_cvbc"
