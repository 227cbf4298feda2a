/* A value of several parts has a form, which the argument of its option draws:
 * "ADDR:LEN[:ro|rw][:FILE]". */
#pragma once
#include "base/options.h"

/* In a form,
 *
 *     N X Y Z ADDR PORT FIRST ...   are numbers within the bounds of the row,
 *     LEN BYTES                     are sizes, which K, M or G may follow,
 *     other capitals                are text, which is not empty and ends where the form goes on; the
 *                                   last one takes all that is left. Where the row has words for its
 *                                   part (parts are counted by colons), it is one of these, or a number,
 *     [ ]                           enclose what may be missing, and ... before ] what may be repeated,
 *     ro|rw                         is one of the two,
 *     ,... at the end               allows several values with commas between them,
 *
 * and everything else stands for itself. */
/* Gives a word of the value that is none of the words of its part. A size of 0 means that
 * something else is wrong. */
struct form_miss {
    penta_bytes word;
    unsigned part;
};
bool form_matches(const penta_option_info *row, penta_bytes value, struct form_miss *miss);
