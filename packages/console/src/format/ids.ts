/** An id shortened in the middle, because its beginning says its kind and its end tells it apart: `inc_01J9…4KQZ`. */
export function shortenId(id: string, length = 16): string {
  if (id.length <= length) return id
  const tail = 4
  return `${id.slice(0, length - tail - 1)}…${id.slice(-tail)}`
}
