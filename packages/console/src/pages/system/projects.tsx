import type { Project } from '@backstop/client'
import { TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { api, useWrite } from '../../api/client.ts'
import { useList } from '../../api/list.ts'
import { projectList } from '../../api/system.ts'
import { choice, defineFilters, useListFilters } from '../../parts/filters/index.ts'
import { DialogButton, Form, useFields } from '../../parts/form/index.ts'
import { type Column, ListPage, textColumn, timeColumn } from '../../parts/list/index.ts'
import { Badge, CopyId } from '../../parts/show/index.ts'
import { useAdministration } from '../../session/administration.ts'

const FILTERS = defineFilters(choice('archived', 'Archived', [{ value: 'true', label: 'Only these' }]))
const COLUMNS: readonly Column<Project>[] = [
  textColumn('Name', 'minmax(0, 1fr)', ({ name }) => name, { card: 'title' }),
  { title: 'Id', width: '176px', card: 'line', cell: ({ project_id }) => <CopyId id={project_id} length={20} /> },
  {
    title: 'Approvals',
    width: '160px',
    card: 'line',
    cell: ({ archived_at, requires_approval }) =>
      archived_at !== null ? <Badge tone="quiet">Archived</Badge> : requires_approval ? 'Approvals required' : '',
  },
  timeColumn('Created', '112px', ({ created_at }) => created_at),
]

export function Page() {
  const filters = useListFilters(FILTERS)
  const { isAdminOfAll } = useAdministration()
  return (
    <ListPage
      title="Projects"
      actions={isAdminOfAll && <DialogButton label="New project">{close => <NewProject close={close} />}</DialogButton>}
      filters={filters}
      list={useList(projectList, filters.values)}
      columns={COLUMNS}
      opens={({ project_id, archived_at }) => `/p/${project_id}${archived_at === null ? '' : '/settings'}`}
      nothingFits="No project is archived."
      empty="No project yet. A project holds the connections and channels of one team or product."
    />
  )
}

function NewProject({ close }: { close: () => void }) {
  const navigate = useNavigate()
  const { fields, field } = useFields({ name: '' })
  const name = fields.name.trim()
  const create = useWrite(() => api.projects.create({ name }), {
    refresh: ['projects'],
    onDone: ({ project_id }) => void navigate({ href: `/p/${project_id}/connections/new` }),
  })
  return (
    <Form
      write={create}
      failed="The project was not created"
      button="Create project"
      isComplete={name !== ''}
      onSubmit={() => create.mutate()}
      onCancel={close}
    >
      <TextInput
        data-autofocus
        label="Name"
        description="The next step connects its first billing account."
        maxLength={200}
        {...field('name')}
      />
    </Form>
  )
}
