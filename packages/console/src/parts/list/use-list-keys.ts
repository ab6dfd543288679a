import { type RefObject, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import type { ListState } from '../../api/list.ts'
import { isTyping } from '../page/use-keys.ts'

interface Options<T> {
  list: ListState<T>
  /** The element that contains the rows, each with its number in `data-index`. */
  box: RefObject<HTMLElement | null>
  scrollTo: (at: number) => void
}

/** The row that was opened last in each list, by the address of the list. */
const opened = new Map<string, string>()
const addressOfList = () => window.location.pathname + window.location.search

/** `returned`: unless the reader is elsewhere meanwhile. `asked`: by a key. */
type FocusWish = 'none' | 'returned' | 'asked'

/**
 * `j` and `k` move the focus to the next and the previous row, so `enter` opens it. When the reader returns to the list, the row that
 * was opened has the focus again.
 * @returns the chosen row, or -1, and a function that chooses the row that is being opened
 */
export function useListKeys<T>({ list: { items, idOf }, box, scrollTo }: Options<T>): [number, (at: number) => void] {
  // By its id, because rows that arrive above it change its number.
  const [chosenId, setChosenId] = useState(() => opened.get(addressOfList()))
  const chosen = useMemo(
    () => (chosenId === undefined ? -1 : items.findIndex(item => idOf(item) === chosenId)),
    [chosenId, items, idOf],
  )
  const wish = useRef<FocusWish>(chosen >= 0 ? 'returned' : 'none')
  const count = items.length
  // After every render, because a row is in the document only once the page is scrolled to it.
  useEffect(() => {
    if (wish.current === 'none' || chosen < 0) return
    if (wish.current === 'returned' && hasFocusElsewhere()) {
      wish.current = 'none'
      return
    }
    const row = box.current?.querySelector<HTMLElement>(`[data-index="${chosen}"]`)
    if (row == null) return
    wish.current = 'none'
    row.focus({ preventScroll: true })
  })
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const step = { j: 1, k: -1 }[event.key]
      if (step === undefined || count === 0 || isTyping(event)) return
      const next = Math.min(count - 1, Math.max(0, chosen + step))
      wish.current = 'asked'
      setChosenId(idOf(items[next] as T))
      scrollTo(next)
    }
    window.addEventListener('keydown', press)
    return () => window.removeEventListener('keydown', press)
  }, [chosen, count, items, idOf, scrollTo])
  const choose = useCallback(
    (at: number) => {
      const item = items[at]
      if (item === undefined) return
      setChosenId(idOf(item))
      opened.set(addressOfList(), idOf(item))
    },
    [items, idOf],
  )
  return [chosen, choose]
}

/** The heading of a page has the focus only until the reader moves it. */
function hasFocusElsewhere(): boolean {
  const { activeElement, body } = document
  return activeElement !== null && activeElement !== body && activeElement.tagName !== 'H1'
}
