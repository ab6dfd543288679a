/** A value, how many items have it, and the first of them. */
export interface CountedValue<Value, Item> {
  readonly value: Value
  readonly count: number
  readonly first: Item
}

/** Maximum number of different values that are counted, to limit memory. A value of most items appears long before. */
const MAX_VALUES = 10_000

/** Counts the values of one fact of many items. */
export class ValueCounter<Value extends string, Item> {
  readonly #values = new Map<Value, { count: number; readonly first: Item }>()

  add(value: Value | null | undefined, item: Item): void {
    if (value == null) return
    const known = this.#values.get(value)
    if (known !== undefined) known.count++
    else if (this.#values.size < MAX_VALUES) this.#values.set(value, { count: 1, first: item })
  }

  /** The most frequent value first. */
  all(): CountedValue<Value, Item>[] {
    return [...this.#values].map(([value, facts]) => ({ value, ...facts })).sort((a, b) => b.count - a.count)
  }

  /** The value that at least half of all items have, if several have it, or the only item. @param items the number of all items */
  most(items: number): CountedValue<Value, Item> | null {
    const [most] = this.all()
    return most !== undefined && most.count >= Math.min(2, items) && most.count * 2 >= items ? most : null
  }
}

/** The value and its count, without an item. */
export function withoutItem<Value>(
  counted: CountedValue<Value, unknown> | null,
): { value: Value; count: number } | null {
  return counted === null ? null : { value: counted.value, count: counted.count }
}
