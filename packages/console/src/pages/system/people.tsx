import type { Person } from '@backstop/client'
import { Button } from '@mantine/core'
import { useState } from 'react'
import * as z from 'zod/mini'
import { useList } from '../../api/list.ts'
import { personList } from '../../api/system.ts'
import { Badge } from '../../parts/badges.tsx'
import { type Column, DataList } from '../../parts/data-list.tsx'
import { FilterBar, SearchChoiceFilter } from '../../parts/filter-bar.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Time } from '../../parts/time.tsx'
import { useFilters } from '../../parts/use-filters.ts'
import { AdminsOnly } from './admins-only.tsx'
import { NewPerson } from './new-person.tsx'
import { PersonPanel } from './person-panel.tsx'
import classes from './system.module.css'
import { useAdministration } from './use-admin.ts'
import { nameRole } from './words.ts'

const FILTERS = { project: z.string(), person: z.string() }

export function Page() {
  return (
    <AdminsOnly title="People">
      <People />
    </AdminsOnly>
  )
}

function People() {
  const [{ project, person }, setFilters, bind] = useFilters(FILTERS)
  const [isCreating, setIsCreating] = useState(false)
  const { projects, nameProject } = useAdministration()
  const list = useList(personList, project === undefined ? {} : { project_id: project })
  return (
    <>
      <PageHead title="People" actions={<Button onClick={() => setIsCreating(true)}>New person</Button>} />
      <FilterBar>
        <SearchChoiceFilter
          label="Role in project"
          options={projects.map(({ project_id, name }) => ({ value: project_id, label: name }))}
          {...bind('project')}
        />
      </FilterBar>
      <DataList
        label="People"
        list={list}
        columns={columnsWith(nameProject)}
        hrefOf={({ person_id }) => hrefOf(person_id, project)}
        empty={
          <p>
            Nobody yet. People who sign in with your organisation appear here by themselves; create others, and send
            them a sign-in link.
          </p>
        }
      />
      {isCreating && (
        <NewPerson
          close={() => setIsCreating(false)}
          open={id => {
            setIsCreating(false)
            setFilters({ person: id })
          }}
        />
      )}
      {person !== undefined && <PersonPanel key={person} id={person} close={() => setFilters({ person: undefined })} />}
    </>
  )
}

function hrefOf(person: string, project: string | undefined): string {
  return `/system/people?${new URLSearchParams({ ...(project === undefined ? {} : { project }), person })}`
}

function columnsWith(nameProject: (id: string | null) => string): readonly Column<Person>[] {
  return [
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
    {
      title: 'E-mail',
      width: 'minmax(0, 1fr)',
      cell: ({ email }) => <span className={`dim ${classes.text}`}>{email ?? ''}</span>,
    },
    {
      title: 'Roles',
      width: 'minmax(0, 1.2fr)',
      card: 'line',
      cell: person =>
        person.disabled ? (
          <Badge tone="quiet">Disabled</Badge>
        ) : (
          <span className={classes.text} dir="auto">
            {describeRoles(person, nameProject)}
          </span>
        ),
    },
    {
      title: 'Last sign-in',
      width: '112px',
      align: 'end',
      card: 'end',
      cell: ({ last_sign_in_at }) => (
        <span className="dim">{last_sign_in_at === null ? 'Never' : <Time at={last_sign_in_at} />}</span>
      ),
    },
  ]
}

function describeRoles({ roles }: Person, nameProject: (id: string | null) => string): string {
  if (roles.length === 0) return 'No role'
  return roles.map(({ role, project_id }) => `${nameRole(role)} · ${nameProject(project_id)}`).join(', ')
}
