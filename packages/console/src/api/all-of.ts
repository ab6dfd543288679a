/** The items of a list of the API, read page by page. @param most further items are not read */
export async function allOf<T>(list: AsyncIterable<T>, most = Number.POSITIVE_INFINITY): Promise<T[]> {
  const items: T[] = []
  for await (const item of list) {
    items.push(item)
    if (items.length >= most) break
  }
  return items
}
