import type { Column } from './data-list.tsx'
import { Time } from './time.tsx'

/** A column with a time at the right edge, which is also at the right edge of the card on a phone. */
export function timeColumn<T>(
  title: string,
  width: string,
  at: (item: T) => string | null | undefined,
  { isOnCard = true, isNamedOnCard = false } = {},
): Column<T> {
  return {
    title,
    width,
    align: 'end',
    isNamedOnCard,
    ...(isOnCard ? { card: 'end' } : {}),
    cell: item => (
      <span className="dim">
        <Time at={at(item)} />
      </span>
    ),
  }
}
