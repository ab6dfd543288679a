import { AppError } from '@backstop/kit/errors'
import { changeVersioned } from '../../http/change-document.ts'
import { findActiveProject } from '../../http/find-resource.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import { deletedChannel } from '../alert-channels/rules/alert-channel.ts'
import { deletedConnection } from '../connections/rules/connection.ts'

/**
 * DELETE /v1/projects/{id}: removes a demo project. Its connections and channels are deleted, which erases their secrets and stops
 * alerts, and the project is archived. Real projects are archived by hand, because one wrong click must not disconnect an account.
 */
export function removeDemoRoute(): Route {
  return defineRoute({
    method: 'delete',
    path: '/v1/projects/{id}',
    operationId: 'removeDemoProject',
    tag: 'Projects',
    summary: 'Remove a demo project',
    description:
      'Deletes the connections and channels of a project with `demo: true`, and archives it. Any other project is refused with `conflict`: delete its connections, then archive it.',
    scope: 'admin',
    answers: { 204: { description: 'The demo project is removed' } },
    refusals: ['conflict'],
    async handle({ params, principal, now, change }) {
      await change(
        async collections => {
          const { connections, channels, projects } = collections
          const project = await findActiveProject(collections, principal, params.id)
          if (project.demo !== true) {
            throw new AppError(
              'conflict',
              `Project ${project._id} is no demo; delete its connections, then archive it with {"archived": true}`,
            )
          }
          const active = { project_id: project._id, deleted_at: null }
          const [connected, alerting] = [await connections.findAll(active), await channels.findAll(active)]
          for (const found of connected) {
            const [find, what] = [async () => found, `connection ${found._id}`]
            await changeVersioned({ now }, { collection: connections, find, what, next: () => deletedConnection(now) })
          }
          for (const found of alerting) {
            const [find, what] = [async () => found, `alert channel ${found._id}`]
            await changeVersioned({ now }, { collection: channels, find, what, next: () => deletedChannel(found, now) })
          }
          const [find, what] = [async () => project, `project ${project._id}`]
          await changeVersioned({ now }, { collection: projects, find, what, next: () => ({ archived_at: now }) })
          return { project, connected, alerting }
        },
        ({ project: { _id: projectId }, connected, alerting }) => [
          ...connected.map(({ _id }) => ({ action: 'connection.delete', target: _id, projectId })),
          ...alerting.map(({ _id }) => ({ action: 'alert_channel.delete', target: _id, projectId })),
          { action: 'project.remove_demo', target: projectId, projectId },
        ],
      )
      return { status: 204 }
    },
  })
}
