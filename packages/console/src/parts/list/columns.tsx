import type { ReactNode } from 'react'
import { Money } from '../show/money.tsx'
import { Time } from '../show/time.tsx'

export interface Column<T> {
  /** The heading; an empty one is for a column that needs none. */
  readonly title: string
  /** The technical name of the field, shown while the pointer is on the heading. */
  readonly about?: string
  /** A track of CSS grid, for example `120px` or `minmax(0, 1fr)`. */
  readonly width: string
  readonly align?: 'end'
  /** The place of the cell in the card on a phone. Without it the card does not show the cell. */
  readonly card?: 'title' | 'end' | 'line'
  /** How many columns the cell of an item takes; the cells that it covers are not shown. One by default. */
  readonly spans?: (item: T) => number
  /** The heading stands before the cell in the card, because the cell alone does not say what it is. */
  readonly isNamedOnCard?: boolean
  cell(item: T): ReactNode
}

type Look = Partial<Pick<Column<never>, 'align' | 'card' | 'isNamedOnCard'>>

/** A column with a text, which is cut where the room ends. @param tone the classes of the text, for example `dim` */
export function textColumn<T>(
  title: string,
  width: string,
  text: (item: T) => string | null | undefined,
  { tone, ...look }: Look & { tone?: string } = {},
): Column<T> {
  return {
    title,
    width,
    ...look,
    cell: item => (
      <span className={tone} dir="auto">
        {text(item) ?? ''}
      </span>
    ),
  }
}

/** A column with an amount at the right edge. */
export function moneyColumn<T>(
  width: string,
  moneyOf: (item: T) => { amount: number | null; currency: string | null } | undefined,
  card: NonNullable<Look['card']>,
): Column<T> {
  const cell = (item: T) => <Money amount={moneyOf(item)?.amount} currency={moneyOf(item)?.currency} />
  return { title: 'Amount', width, align: 'end', card, cell }
}

interface TimeLook {
  isOnCard?: boolean
  isNamedOnCard?: boolean
  /** Shown without a time; a dash by default. */
  never?: string
}

/** A column with a time at the right edge, which is also at the right edge of the card on a phone. */
export function timeColumn<T>(
  title: string,
  width: string,
  at: (item: T) => string | null | undefined,
  { isOnCard = true, isNamedOnCard = false, never }: TimeLook = {},
): Column<T> {
  return {
    title,
    width,
    align: 'end',
    isNamedOnCard,
    ...(isOnCard ? { card: 'end' } : {}),
    cell: item => (
      <span className="dim">{at(item) == null && never !== undefined ? never : <Time at={at(item)} />}</span>
    ),
  }
}
