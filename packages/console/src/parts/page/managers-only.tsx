import type { ReactNode } from 'react'
import { useSession } from '../../session/session.ts'
import { type Above, PageHead } from './page-head.tsx'
import { useProjectId } from './use-route.ts'

interface Props {
  title: string
  above: Above
  children: ReactNode
}

/** A form that only managers of the project may send. Everybody else gets a sentence instead of it. */
export function ManagersOnly({ title, above, children }: Props) {
  const { me, may } = useSession()
  const projectId = useProjectId()
  return (
    <>
      <PageHead title={title} above={above} />
      {may('manage', projectId)
        ? children
        : me !== undefined && (
            <p className="body dim">
              Only managers of this project can do this. Ask one of them for it, or for the role.
            </p>
          )}
    </>
  )
}
