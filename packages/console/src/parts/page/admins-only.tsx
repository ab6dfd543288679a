import type { ReactNode } from 'react'
import { useAdministration } from '../../session/administration.ts'
import { PageHead } from './page-head.tsx'

/** A page that only admins may read. Everybody else gets a sentence instead of an error. */
export function AdminsOnly({ title, children }: { title: string; children: ReactNode }) {
  const { isAdmin } = useAdministration()
  if (isAdmin === undefined) return null
  if (isAdmin) return children
  return (
    <>
      <PageHead title={title} />
      <p className="body dim" style={{ maxWidth: 760 }}>
        This page is for people with the role admin. Ask one of them for the role, or for what you need from this page.
      </p>
    </>
  )
}
