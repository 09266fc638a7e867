/* SPDX-License-Identifier: Apache-2.0
 * In which order the search lists what it finds. The numbers are those of Sphinx, but a name that is
 * the word comes first; `score` changes what they give a page, so that pages for users come before
 * those about how usmx was made.
 */
var Scorer = {
  objNameMatch: 30,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,

  score: ([docname, title, anchor, description, score, filename, kind]) => {
    if (/^(decisions\/|changes$|contributing$|extending$|security$|testing$)/.test(docname))
      return score - 20;
    /* A function before attributes and methods of its name: fewer dots. */
    if (kind === "object") return score - 3 * title.split(".").length;
    /* A guide before an example, and that before a page of names. */
    if (docname === "start") return score + 5;
    if (docname === "genindex" || docname === "py-modindex") return score;
    if (!docname.includes("/")) return score + 4;
    return docname.startsWith("examples/") ? score + 2 : score;
  },
};
