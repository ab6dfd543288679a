import type { Project } from '@backstop/client'
import { Button, Group, Modal, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import * as z from 'zod/mini'
import { api } from '../../api/client.ts'
import { defineList, useList } from '../../api/list.ts'
import { Badge } from '../../parts/badges.tsx'
import { timeColumn } from '../../parts/columns.tsx'
import { CopyId } from '../../parts/copy-id.tsx'
import { type Column, DataList } from '../../parts/data-list.tsx'
import { ChoiceFilter, FilterBar } from '../../parts/filter-bar.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Problem } from '../../parts/problem.tsx'
import { useFilters } from '../../parts/use-filters.ts'
import classes from './system.module.css'
import { useAdministration } from './use-admin.ts'

const FILTERS = { archived: z.enum(['true']) }
const projectList = defineList<Project, { archived?: 'true' }>({
  resource: 'projects',
  read: (query, signal) => api.projects.list(query, { signal }),
  idOf: project => project.project_id,
})
const COLUMNS: readonly Column<Project>[] = [
  {
    title: 'Name',
    width: 'minmax(0, 1fr)',
    card: 'title',
    cell: ({ name }) => (
      <span className={classes.text} dir="auto" title={name}>
        {name}
      </span>
    ),
  },
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
  const [filters, , bind] = useFilters(FILTERS)
  const [isCreating, setIsCreating] = useState(false)
  const { isAdminOfAll } = useAdministration()
  const list = useList(projectList, filters)
  return (
    <>
      <PageHead
        title="Projects"
        actions={isAdminOfAll && <Button onClick={() => setIsCreating(true)}>New project</Button>}
      />
      <FilterBar>
        <ChoiceFilter label="Archived" options={[{ value: 'true', label: 'Only these' }]} {...bind('archived')} />
      </FilterBar>
      <DataList
        label="Projects"
        list={list}
        columns={COLUMNS}
        hrefOf={({ project_id, archived_at }) => `/p/${project_id}${archived_at === null ? '' : '/settings'}`}
        empty={
          <p>
            {filters.archived
              ? 'No project is archived.'
              : 'No project yet. A project holds the connections and channels of one team or product.'}
          </p>
        }
      />
      {isCreating && <NewProject close={() => setIsCreating(false)} />}
    </>
  )
}

function NewProject({ close }: { close: () => void }) {
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const [name, setName] = useState('')
  const create = useMutation({
    mutationFn: () => api.projects.create({ name: name.trim() }),
    onSuccess: ({ project_id }) => {
      void queryClient.invalidateQueries({ queryKey: ['projects'] })
      void navigate({ href: `/p/${project_id}/connections/new` })
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    create.mutate()
  }
  return (
    <Modal opened onClose={close} title="New project">
      <form className={classes.form} onSubmit={submit}>
        <TextInput
          data-autofocus
          label="Name"
          description="The next step connects its first billing account."
          maxLength={200}
          value={name}
          onChange={event => setName(event.currentTarget.value)}
        />
        {create.error !== null && <Problem error={create.error} what="The project was not created" />}
        <Group justify="flex-end" gap="sm">
          <Button variant="default" onClick={close}>
            Cancel
          </Button>
          <Button type="submit" loading={create.isPending} disabled={name.trim() === ''}>
            Create project
          </Button>
        </Group>
      </form>
    </Modal>
  )
}
