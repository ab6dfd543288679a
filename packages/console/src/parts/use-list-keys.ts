import { type RefObject, useEffect, useRef, useState } from 'react'
import type { ListState } from '../api/list.ts'
import { isTyping } from './is-typing.ts'

interface Options<T> {
  list: ListState<T>
  /** The element that contains the rows, each with its number in `data-index`. */
  box: RefObject<HTMLElement | null>
  scrollTo: (at: number) => void
}

/** The row that was opened last in each list, by the address of the list. */
const opened = new Map<string, string>()
const addressOfList = () => window.location.pathname + window.location.search

/**
 * `j` and `k` move the focus to the next and the previous row, so `enter` opens it. When the reader returns to the list, the row that
 * was opened has the focus again.
 * @returns the chosen row, or -1, and a function that chooses the row that is being opened
 */
export function useListKeys<T>({ list: { items, idOf }, box, scrollTo }: Options<T>): [number, (at: number) => void] {
  const [chosen, setChosen] = useState(() => {
    const id = opened.get(addressOfList())
    return id === undefined ? -1 : items.findIndex(item => idOf(item) === id)
  })
  const wantsFocus = useRef(chosen >= 0)
  const count = items.length
  useEffect(() => {
    if (!wantsFocus.current || chosen < 0) return
    wantsFocus.current = false
    const row = box.current?.querySelector<HTMLElement>(`[data-index="${chosen}"]`)
    row?.focus({ preventScroll: true })
  })
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const step = { j: 1, k: -1 }[event.key]
      if (step === undefined || count === 0 || isTyping(event)) return
      const next = Math.min(count - 1, Math.max(0, chosen + step))
      wantsFocus.current = true
      setChosen(next)
      scrollTo(next)
    }
    window.addEventListener('keydown', press)
    return () => window.removeEventListener('keydown', press)
  }, [chosen, count, scrollTo])
  const choose = (at: number) => {
    setChosen(at)
    const item = items[at]
    if (item !== undefined) opened.set(addressOfList(), idOf(item))
  }
  return [chosen, choose]
}
