/* Turns machine code into text with the library Zydis. */
#include <Zydis/Zydis.h>
#include "cli/native/native.h"

size_t native_text(const uint8_t *code, size_t size, uint64_t at, char *text, size_t capacity)
{
    ZydisDecoder decoder;
    ZydisFormatter formatter;
    ZydisDecodedInstruction in;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    *text = 0;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_INTEL);
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code, size, &in, operands))) return 1;
    ZydisFormatterFormatInstruction(&formatter, &in, operands, in.operand_count_visible, text,
                                    capacity, at, ZYAN_NULL);
    return in.length;
}
