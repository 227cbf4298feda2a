/* Draws call paths as an SVG picture. Each path is a rectangle as wide as its share, above the path that called it. A
 * script in the file zooms. The file needs no other file, and also works where scripts are off. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/options.h"
#include "penta/analysis/markup.h"
#include "penta/analysis/profile_struct.h"

enum { WIDTH = 1200, ROW = 18, TOP = 56, CHARACTER = 7, DEEPEST = 200, LEAST_SHARE = 4000 };

struct flame {
    const penta_profile *p;
    uint64_t *sums; /* the sum of each path and all paths below it */
    uint64_t all;
    size_t *first, *next; /* the children of each path, as a list */
    const char *unit;
    bool by_cost;
    unsigned depth; /* the depth of the picture */
    struct writer *w;
};

/* Chooses a colour by the name, so that it is the same in every picture. Colours only tell neighbours apart. */
static void flamegraph_colour(char *text, size_t size, const char *name)
{
    uint32_t hash = 2166136261u;
    for (; *name; name++) hash = (hash ^ (uint8_t)*name) * 16777619u;
    snprintf(text, size, "hsl(%u,%u%%,%u%%)", 12 + hash % 42, 62 + hash / 64 % 20,
             62 + hash / 4096 % 10);
}

static unsigned depth_of(const struct flame *f, size_t path)
{
    unsigned depth = 0;
    for (; path != SIZE_MAX; path = f->p->paths[path].parent) depth++;
    return depth;
}

static bool flamegraph_shown(const struct flame *f, size_t path)
{
    return f->sums[path] && f->sums[path] >= f->all / LEAST_SHARE && depth_of(f, path) <= DEEPEST;
}

static void flamegraph_frame(struct flame *f, const char *name, double x, double width,
                             unsigned row, uint64_t weight)
{
    char fill[40];
    double share = f->all ? 100.0 * (double)weight / (double)f->all : 0;
    unsigned y = TOP + (f->depth - row) * ROW;
    flamegraph_colour(fill, sizeof fill, name);
    writer_print(f->w, "<g class=\"f\" data-x=\"%.4f\" data-w=\"%.4f\" data-r=\"%u\"><title>", x,
                 width, row);
    markup_text(f->w, name);
    writer_print(f->w, " (%" PRIu64 " %s, %.2f%%)</title>", weight, f->unit, share);
    writer_print(f->w,
                 "<rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%d\" fill=\"%s\" rx=\"1\"/>", x,
                 y, width, ROW - 1, fill);
    writer_print(f->w, "<text x=\"%.2f\" y=\"%u\" data-n=\"", x + 3, y + ROW - 5);
    markup_text(f->w, name);
    writer_text(f->w, "\">");
    markup_cut(f->w, name, width > 6 ? (size_t)((width - 6) / (double)CHARACTER) : 0);
    writer_text(f->w, "</text></g>\n");
}

static void flamegraph_draw(struct flame *f, size_t path, double x, unsigned row)
{
    double scale = f->all ? (double)WIDTH / (double)f->all : 0;
    for (; path != SIZE_MAX; path = f->next[path]) {
        if (!flamegraph_shown(f, path)) continue;
        flamegraph_frame(f, profile_function_name(f->p, f->p->paths[path].function), x,
                         (double)f->sums[path] * scale, row, f->sums[path]);
        flamegraph_draw(f, f->first[path], x, row + 1);
        x += (double)f->sums[path] * scale;
    }
}

/* The script zooms: the frame that was clicked becomes as wide as the picture, and the frames
 * below and above it follow. */
static const char script[] =
    "<script><![CDATA[\n"
    "(function(){var W=1200,C=7,s=document.documentElement,"
    "g=[].slice.call(s.querySelectorAll('g.f')),info=s.querySelector('#info');\n"
    "function fit(e,x,w){var r=e.querySelector('rect'),t=e.querySelector('text'),"
    "n=t.getAttribute('data-n'),k=Math.floor((w-6)/C);\n"
    "r.setAttribute('x',x);r.setAttribute('width',Math.max(w,0));t.setAttribute('x',x+3);\n"
    "t.textContent=k<3?'':n.length<=k?n:n.slice(0,k-2)+'..';}\n"
    "function zoom(a,b){g.forEach(function(e){var x=+e.dataset.x,w=+e.dataset.w,"
    "l=Math.max(x,a),h=Math.min(x+w,b);\n"
    "if(h-l<=(b-a)*1e-6){e.style.display='none';return;}e.style.display='';\n"
    "fit(e,(l-a)*W/(b-a),(h-l)*W/(b-a));});}\n"
    "s.addEventListener('click',function(v){var e=v.target.closest('g.f');\n"
    "if(e){var x=+e.dataset.x;zoom(x,x+ +e.dataset.w);}else zoom(0,W);});\n"
    "s.addEventListener('mouseover',function(v){var e=v.target.closest('g.f');\n"
    "info.textContent=e?e.querySelector('title').textContent:'';});\n"
    "})();\n]]></script>\n";

static void flamegraph_head(struct flame *f, const char *title)
{
    unsigned height = TOP + (f->depth + 1) * ROW + 12;
    writer_print(f->w,
                 "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                 "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %u\" width=\"%d\" "
                 "height=\"%u\" font-family=\"monospace\" font-size=\"12\">\n",
                 WIDTH, height, WIDTH, height);
    writer_text(f->w, "<style>svg{background:#fff}text{fill:#222}text.t{font-size:15px}"
                      "g.f{cursor:pointer}g.f:hover rect{stroke:#222}g.f text{fill:#111;"
                      "pointer-events:none}"
                      "@media(prefers-color-scheme:dark){svg{background:#1b1b1b}"
                      "text.t,text.i{fill:#ddd}g.f:hover rect{stroke:#fff}}</style>\n");
    writer_print(f->w, "<rect width=\"%d\" height=\"%u\" fill=\"none\"/>\n", WIDTH, height);
    writer_print(f->w, "<text class=\"t\" x=\"%d\" y=\"22\" text-anchor=\"middle\">", WIDTH / 2);
    markup_text(f->w, title);
    writer_print(f->w, "</text>\n<text class=\"i\" id=\"info\" x=\"6\" y=\"42\">%" PRIu64 " %s",
                 f->all, f->unit);
    writer_text(f->w, "</text>\n");
}

/* Links the children of each path in the order of the paths, which is the same in every run. */
static bool link_paths(struct flame *f)
{
    const penta_profile *p = f->p;
    f->first = calloc(p->path_count + 1, sizeof *f->first);
    f->next = calloc(p->path_count + 1, sizeof *f->next);
    f->sums = profile_inclusive(p, f->by_cost);
    if (!f->first || !f->next || !f->sums) return false;
    for (size_t i = 0; i <= p->path_count; i++) f->first[i] = f->next[i] = SIZE_MAX;
    for (size_t i = p->path_count; i--;) {
        size_t parent = p->paths[i].parent == SIZE_MAX ? p->path_count : p->paths[i].parent;
        f->next[i] = f->first[parent];
        f->first[parent] = i;
    }
    f->all = f->by_cost ? p->total_cost : p->total;
    for (size_t i = 0; i < p->path_count; i++)
        if (flamegraph_shown(f, i) && depth_of(f, i) > f->depth) f->depth = depth_of(f, i);
    return true;
}

static const penta_option_info flame_options[] = {
    OPTION_ROW("weight", TEXT("NAME"), OPTION_PRINT, ""),
    OPTION_ROW("title", TEXT("TEXT"), OPTION_PRINT, ""),
    {.key = NULL}};

bool penta_profile_flamegraph(const penta_profile *p, const penta_option *options, size_t count,
                              penta_buffer *out, penta_error *err)
{
    *err = (penta_error){0};
    struct writer w = {0};
    struct flame f = {.p = p, .w = &w};
    const char *title = option_text(options, count, "title");
    if (!options_check(options, count, flame_options, OPTION_PRINT, err) ||
        !profile_weight(p, options, count, &f.by_cost, err))
        return false;
    f.unit = f.by_cost ? p->cost_name : profile_unit(p);
    bool ok = link_paths(&f) || error_at(err, BASE_MEMORY, 0, "no memory for a picture");
    if (ok) {
        flamegraph_head(&f, title ? title : "profile");
        flamegraph_frame(&f, "all", 0, WIDTH, 0, f.all);
        flamegraph_draw(&f, f.first[p->path_count], 0, 1);
        writer_text(&w, script);
        writer_text(&w, "</svg>\n");
    }
    free(f.first);
    free(f.next);
    free(f.sums);
    return writer_give(&w, ok, out, err);
}
