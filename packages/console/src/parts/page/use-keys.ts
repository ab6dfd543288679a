import { useEffect, useRef } from 'react'

/** True if a key belongs to a field, a dialog, a shortcut of the browser or another shortcut, and must not start one of its own. */
export function isTyping(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey) return true
  const target = event.target instanceof Element ? event.target : null
  return target?.closest('input, textarea, select, [contenteditable], [role="dialog"], [role="menu"]') != null
}

/** The shortcuts of the page: what each key does, or undefined while it does nothing. */
export function useKeys(keys: Readonly<Record<string, (() => void) | undefined>>): void {
  const latest = useRef(keys)
  latest.current = keys
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const act = isTyping(event) ? undefined : latest.current[event.key]
      if (act === undefined) return
      event.preventDefault()
      act()
    }
    window.addEventListener('keydown', press)
    return () => window.removeEventListener('keydown', press)
  }, [])
}
