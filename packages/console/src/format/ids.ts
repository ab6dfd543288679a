/** An id shortened in the middle, because its beginning says its kind and its end tells it apart: `inc_01J9…4KQZ`. */
export function shortenId(id: string, length = 16): string {
  if (id.length <= length) return id
  const tail = 4
  return `${id.slice(0, length - tail - 1)}…${id.slice(-tail)}`
}

/** Ids of providers and of Backstop: long words with a digit. */
const LONG_ID = /(?=[\w-]*\d)[\w-]{20,}/g

/** A sentence of the API for a list: its ids are shortened, so that the words after them have room. */
export function shortenIds(sentence: string): string {
  return sentence.replaceAll(LONG_ID, id => shortenId(id, 13))
}
