/** Leaves out the conditions that are undefined. */
export function given(conditions: object): object {
  return Object.fromEntries(Object.entries(conditions).filter(([, value]) => value !== undefined))
}

/** Selects the documents after a place of a list, newest first. Documents of the same time are sorted by id, descending. */
export function olderThan(field: string, at: Date | string, id: string): object[] {
  return [{ [field]: { $lt: at } }, { [field]: at, _id: { $lt: id } }]
}
