import { useNavigate } from '@tanstack/react-router'
import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { type MouseEvent, memo, type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'
import type { ListState } from '../../api/list.ts'
import { Problem } from '../page/problem.tsx'
import type { Column } from './columns.tsx'
import classes from './data-list.module.css'
import { useListKeys } from './use-list-keys.ts'
import { useWholeTexts } from './use-whole-texts.ts'

interface Props<T> {
  list: ListState<T>
  columns: readonly Column<T>[]
  grid: { gridTemplateColumns: string }
  isPhone: boolean
  hrefOf: ((item: T) => string) | undefined
}

const ROW_PX = 40
/** A card is measured when it is shown, because its title may have two lines. */
const CARD_PX = 72
/** The rows before the end of the list at which the next page is read. */
const READ_AHEAD = 10

/** The rows of a list, of which only those in view exist in the document. */
export function ListRows<T>({ list, columns, grid, isPhone, hrefOf }: Props<T>) {
  const navigate = useNavigate()
  const box = useRef<HTMLDivElement>(null)
  const offset = useDistanceFromTop(box)
  const { items, arrivals, hasMore, isLoadingMore, moreError, loadMore, idOf } = list
  // With a new function the virtualizer would measure all rows again, in each frame of a scroll.
  const getItemKey = useCallback((at: number) => idOf(items[at] as T), [items, idOf])
  const virtual = useWindowVirtualizer({
    count: items.length,
    estimateSize: () => (isPhone ? CARD_PX : ROW_PX),
    overscan: 12,
    scrollMargin: offset,
    getItemKey,
  })
  const [chosen, choose] = useListKeys({ list, box, scrollTo: at => virtual.scrollToIndex(at) })
  const shown = virtual.getVirtualItems()
  const last = shown.at(-1)?.index ?? 0
  useEffect(() => {
    if (hasMore && !isLoadingMore && moreError === null && last >= items.length - READ_AHEAD) loadMore()
  }, [hasMore, isLoadingMore, moreError, last, items.length, loadMore])
  useArrivals(list, box)
  useWholeTexts(box, isCell)
  const open = useCallback(
    (event: MouseEvent, at: number, href: string) => {
      if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return
      event.preventDefault()
      choose(at)
      void navigate({ href })
    },
    [choose, navigate],
  )
  return (
    <>
      {arrivals.length > 0 && (
        <button type="button" className={classes.arrivals} onClick={list.showArrivals}>
          {arrivals.length} new
        </button>
      )}
      <div ref={box} className={classes.rows} style={{ height: virtual.getTotalSize() }}>
        {shown.map(({ index, key, start }) => (
          <Row
            key={key}
            item={items[index] as T}
            index={index}
            topPx={start - offset}
            isChosen={chosen === index}
            columns={columns}
            grid={grid}
            measure={isPhone ? virtual.measureElement : undefined}
            hrefOf={hrefOf}
            open={open}
          />
        ))}
      </div>
      {(hasMore || shown.length < items.length) && (
        <p className={classes.onPaper}>There are more rows. This paper has those near the place on the screen.</p>
      )}
      {isLoadingMore ? (
        <div className={classes.more}>Loading more…</div>
      ) : (
        moreError !== null && <Problem error={moreError} retry={loadMore} what="The next rows could not be read" />
      )}
    </>
  )
}

interface RowProps<T> {
  item: T
  index: number
  topPx: number
  isChosen: boolean
  columns: readonly Column<T>[]
  grid: Props<T>['grid']
  /** On a phone, where a row is a card. */
  measure: ((row: HTMLElement | null) => void) | undefined
  hrefOf: Props<T>['hrefOf']
  open: (event: MouseEvent, index: number, href: string) => void
}

/** A row stays as it is while others scroll into view. */
const Row = memo(AnyRow) as typeof AnyRow

function AnyRow<T>({ item, index, topPx, isChosen, columns, grid, measure, hrefOf, open }: RowProps<T>) {
  const isPhone = measure !== undefined
  const place = { transform: `translateY(${topPx}px)` }
  const common = {
    className: isPhone ? classes.card : classes.row,
    style: isPhone ? place : { ...place, ...grid },
    'data-index': index,
    'data-chosen': isChosen || undefined,
    ref: measure,
  }
  const content = isPhone ? <Card item={item} columns={columns} /> : <Cells item={item} columns={columns} />
  const href = hrefOf?.(item)
  return href === undefined ? (
    <div {...common}>{content}</div>
  ) : (
    <a {...common} href={href} onClick={event => open(event, index, href)}>
      {content}
    </a>
  )
}

/** The pixels above the rows. They change when a line above the list appears. */
function useDistanceFromTop(box: RefObject<HTMLDivElement | null>): number {
  const [distance, setDistance] = useState(0)
  // After every render, because any part of the page may have changed its height. The same number renders nothing.
  useLayoutEffect(() => {
    if (box.current !== null) setDistance(Math.round(box.current.getBoundingClientRect().top + window.scrollY))
  })
  return distance
}

/** Shows arrivals at once while the top of the list is in view and the pointer is elsewhere, so that no row moves under the pointer. */
function useArrivals<T>({ arrivals, showArrivals }: ListState<T>, box: RefObject<HTMLDivElement | null>): void {
  useEffect(() => {
    if (arrivals.length === 0 || box.current === null) return
    const isInUse = box.current.matches(':hover') || box.current.contains(document.activeElement)
    if (window.scrollY < ROW_PX && !isInUse) showArrivals()
  }, [arrivals, showArrivals, box])
}

const isCell = (element: Element) => element.classList.contains(classes.cell ?? '')

interface ContentProps<T> {
  item: T
  columns: readonly Column<T>[]
}

/** The columns that have a cell in the row of an item, and the number of columns that each takes. */
function cellsOf<T>({ item, columns }: ContentProps<T>): { column: Column<T>; span: number }[] {
  const cells = columns.map((column, at) => ({ column, span: column.spans?.(item) ?? 1, at }))
  return cells.filter(({ at }) => !cells.some(before => before.at < at && before.at + before.span > at))
}

function Cells<T>(content: ContentProps<T>) {
  return cellsOf(content).map(({ column, span }) => (
    <div
      key={column.title}
      className={classes.cell}
      // A cell that takes more room has a text and no number.
      {...(span === 1 ? { 'data-align': column.align } : { style: { gridColumn: `span ${span}` } })}
    >
      {column.cell(content.item)}
    </div>
  ))
}

function Card<T>({ item, columns }: ContentProps<T>) {
  const cells = cellsOf({ item, columns }).map(({ column }) => column)
  const at = (place: Column<T>['card']) => cells.filter(({ card }) => card === place)
  return (
    <>
      <div className={classes.cardTop}>
        <div className={classes.cardTitle}>
          {at('title').map(column => (
            <CardCell key={column.title} column={column} item={item} />
          ))}
        </div>
        <div>
          {at('end').map(column => (
            <CardCell key={column.title} column={column} item={item} />
          ))}
        </div>
      </div>
      <div className={classes.cardLine}>
        {at('line').map(column => (
          <CardCell key={column.title} column={column} item={item} />
        ))}
      </div>
    </>
  )
}

function CardCell<T>({ column: { title, isNamedOnCard = false, cell }, item }: { column: Column<T>; item: T }) {
  return (
    <span>
      {isNamedOnCard && <span className="faint">{title} </span>}
      {cell(item)}
    </span>
  )
}
