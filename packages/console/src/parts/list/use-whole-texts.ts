import { type RefObject, useEffect } from 'react'

/** A text in `box` that is cut at its end is shown whole while the pointer is on it. */
export function useWholeTexts(box: RefObject<HTMLElement | null>, isPart: (element: Element) => boolean): void {
  useEffect(() => {
    const element = box.current
    const show = ({ target }: MouseEvent) => {
      const part = partOf(target instanceof HTMLElement ? target : null, element, isPart)
      if (part === undefined) return
      if (isCut(part)) part.title = part.textContent
      else part.removeAttribute('title')
    }
    element?.addEventListener('mouseover', show)
    return () => element?.removeEventListener('mouseover', show)
  }, [box, isPart])
}

function partOf(from: HTMLElement | null, box: Element | null, isPart: (element: Element) => boolean) {
  for (let at = from; at !== null && at !== box; at = at.parentElement) if (isPart(at)) return at
  return undefined
}

function isCut(part: Element): boolean {
  return [part, ...part.querySelectorAll('*')].some(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1)
}
