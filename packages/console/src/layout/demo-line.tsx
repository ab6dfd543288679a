import type { Project } from '@backstop/client'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { api } from '../api/client.ts'
import { Badge } from '../parts/badges.tsx'
import { ConfirmButton } from '../parts/confirm-button.tsx'
import { useSession } from '../session/session.ts'
import classes from './demo-line.module.css'

/** Marks every page of the demo project, and removes the project. */
export function DemoLine({ project: { project_id, name } }: { project: Project }) {
  const { may } = useSession()
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const remove = async () => {
    await api.projects.removeDemo(project_id)
    await queryClient.invalidateQueries({ queryKey: ['projects', 'all'] })
    await navigate({ to: '/' })
  }
  return (
    <div className={classes.line}>
      <Badge tone="quiet">Demo</Badge>
      <span className="dim">The data of this project is made up.</span>
      {may('admin', project_id) && (
        <ConfirmButton
          size="compact-xs"
          question={`Remove the demo project “${name}”?`}
          consequence="Its connections and channels are deleted, and the project is archived. This cannot be undone."
          onConfirm={remove}
        >
          Remove the demo
        </ConfirmButton>
      )}
    </div>
  )
}
