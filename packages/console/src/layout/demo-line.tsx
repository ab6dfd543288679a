import type { Project } from '@backstop/client'
import { Group } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { api, refresh } from '../api/client.ts'
import { ConfirmButton } from '../parts/form/index.ts'
import { Badge } from '../parts/show/index.ts'
import { useSession } from '../session/session.ts'
import classes from './frame.module.css'

/** Marks every page of the demo project, and removes the project. */
export function DemoLine({ project: { project_id, name } }: { project: Project }) {
  const { may } = useSession()
  const navigate = useNavigate()
  const remove = async () => {
    await api.projects.removeDemo(project_id)
    await refresh(['projects', 'all'])
    await navigate({ to: '/' })
  }
  return (
    <Group className={classes.demo} gap="4px 12px" wrap="nowrap">
      <Badge tone="quiet">Demo</Badge>
      <span className="dim">The data is made up.</span>
      {may('admin', project_id) && (
        <ConfirmButton
          ml="auto"
          variant="subtle"
          size="compact-xs"
          question={`Remove the demo project “${name}”?`}
          consequence="Its connections and channels are deleted, and the project is archived. This cannot be undone."
          onConfirm={remove}
        >
          Remove the demo
        </ConfirmButton>
      )}
    </Group>
  )
}
