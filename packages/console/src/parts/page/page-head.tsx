import { showableLines } from '@backstop/contracts/showable-text'
import { type ReactNode, useEffect, useRef } from 'react'
import classes from './page-head.module.css'
import { ProjectLink, type ProjectPage } from './project-link.tsx'

/** The letters of a title that the history of a browser shows. */
const MOST_IN_TAB = 60

/** The list that a page belongs to, with its title. */
export type Above = readonly [page: ProjectPage, title: string]

interface Props {
  /** A sentence or a name: the only h1 of the page, and the title of the tab. */
  title: string
  above?: Above | undefined
  /** A sentence below the title. */
  about?: ReactNode
  /** Buttons on the right; one of them may be primary. */
  actions?: ReactNode
  children?: ReactNode
}

export function PageHead({ title, above, about, actions, children }: Props) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => focusAfterNavigation(heading.current), [])
  useEffect(() => {
    document.title = `${shortTitle(showableLines(title))} · Backstop`
  }, [title])
  return (
    <header className={classes.head}>
      {above !== undefined && (
        <div className={classes.above}>
          <ProjectLink page={above[0]} className="">
            {above[1]}
          </ProjectLink>
        </div>
      )}
      <div className={classes.line}>
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {actions !== undefined && <div className={classes.actions}>{actions}</div>}
      </div>
      {about !== undefined && <p className="dim">{about}</p>}
      {children}
    </header>
  )
}

/** A title for the tab and the history, cut at the end of a word. */
function shortTitle(title: string): string {
  if (title.length <= MOST_IN_TAB) return title
  return `${title.slice(0, MOST_IN_TAB).replace(/\s+\S*$/, '')}…`
}

/** The path of the page that was opened first, until another one is opened. */
let firstPath: string | undefined

/**
 * A link that leaves the document with its page takes the focus along. The heading of the next page gets it, so that the keyboard and
 * screen readers continue there. The first page keeps the focus of the browser, so that its first Tab reaches the link that skips to the page.
 */
function focusAfterNavigation(heading: HTMLElement | null): void {
  firstPath ??= window.location.pathname
  if (window.location.pathname === firstPath) return
  firstPath = ''
  const { activeElement, body } = document
  if (activeElement === null || activeElement === body) heading?.focus({ preventScroll: true })
}
