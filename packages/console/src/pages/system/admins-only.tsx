import type { ReactNode } from 'react'
import { PageHead } from '../../parts/page-head.tsx'
import classes from './system.module.css'
import { useAdministration } from './use-admin.ts'

/** A page that only admins may read. Everybody else gets a sentence instead of an error. */
export function AdminsOnly({ title, children }: { title: string; children: ReactNode }) {
  const { isAdmin } = useAdministration()
  if (isAdmin === undefined) return null
  if (isAdmin) return children
  return (
    <>
      <PageHead title={title} />
      <div className={classes.page}>
        <p className="dim">
          This page is for people with the role admin. Ask one of them for the role, or for what you need from this
          page.
        </p>
      </div>
    </>
  )
}
