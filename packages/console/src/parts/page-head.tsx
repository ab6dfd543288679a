import { type ReactNode, useEffect } from 'react'
import classes from './page-head.module.css'

interface Props {
  /** A sentence or a name: the only h1 of the page, and the title of the tab. */
  title: string
  /** The place that the page belongs to, as a link. */
  above?: ReactNode
  /** Buttons on the right; one of them may be primary. */
  actions?: ReactNode
  children?: ReactNode
}

export function PageHead({ title, above, actions, children }: Props) {
  useEffect(() => {
    document.title = `${title} · Backstop`
  }, [title])
  return (
    <header className={classes.head}>
      {above !== undefined && <div className={classes.above}>{above}</div>}
      <div className={classes.line}>
        <h1 tabIndex={-1}>{title}</h1>
        {actions !== undefined && <div className={classes.actions}>{actions}</div>}
      </div>
      {children}
    </header>
  )
}
