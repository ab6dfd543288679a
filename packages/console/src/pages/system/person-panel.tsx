import type { Person } from '@backstop/client'
import { Button, Group, Select } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { personQuery, type Role } from '../../api/system.ts'
import { formatClock } from '../../format/times.ts'
import { Badge } from '../../parts/badges.tsx'
import { ConfirmButton } from '../../parts/confirm-button.tsx'
import { CopyId } from '../../parts/copy-id.tsx'
import { Facts } from '../../parts/facts.tsx'
import { isLostRace } from '../../parts/is-lost-race.ts'
import { LostRace } from '../../parts/lost-race.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Time } from '../../parts/time.tsx'
import { useSession } from '../../session/session.ts'
import { Panel } from './panel.tsx'
import { RoleChoice, type RoleInProject } from './role-choice.tsx'
import { ShownOnce } from './shown-once.tsx'
import classes from './system.module.css'
import { useAdministration } from './use-admin.ts'
import { nameRole, ROLES } from './words.ts'

/** One person: facts, roles, the sign-in link, and what ends the access. */
export function PersonPanel({ id, close }: { id: string; close: () => void }) {
  const { data: person, error, refetch } = useQuery(personQuery(id))
  const { isAdminOfAll } = useAdministration()
  return (
    <Panel title={person?.name ?? 'Person'} close={close}>
      {error !== null && person === undefined && (
        <Problem error={error} retry={() => void refetch()} what="The person could not be read" />
      )}
      {person !== undefined && (
        <>
          <PersonFacts person={person} />
          <Roles person={person} />
          {isAdminOfAll && (
            <>
              {!person.disabled && <SignInLink person={person} />}
              <Access person={person} close={close} />
            </>
          )}
        </>
      )}
    </Panel>
  )
}

function PersonFacts({ person }: { person: Person }) {
  const { person_id, email, issuer, last_sign_in_at, created_at, disabled } = person
  return (
    <Facts
      facts={[
        ['State', <AccessBadge key="state" disabled={disabled} />],
        ['E-mail', email],
        ['Signs in', issuer === null ? 'By a link' : `With ${issuer}`],
        ['Last sign-in', last_sign_in_at === null ? 'Never' : <Time key="seen" at={last_sign_in_at} />],
        ['Created', <Time key="created" at={created_at} />],
        ['Id', <CopyId key="id" id={person_id} length={32} />],
      ]}
    />
  )
}

function AccessBadge({ disabled }: { disabled: boolean }) {
  return disabled ? <Badge tone="quiet">Disabled</Badge> : <Badge tone="good">May sign in</Badge>
}

type RoleChange = { project_id: string | null; role: Role | null }

/** Changes a role of the person, and shows both versions if somebody changed the person first. */
function useRoleChange(person: Person) {
  const queryClient = useQueryClient()
  const refresh = () => queryClient.invalidateQueries({ queryKey: ['people'] })
  const change = useMutation({
    mutationFn: (role: RoleChange) =>
      api.people.changePerson(person.person_id, { roles: [role] }, { ifVersion: person.version }),
    onSuccess: refresh,
    onError: error => void (isLostRace(error) && refresh()),
  })
  return change
}

function Roles({ person }: { person: Person }) {
  const { nameProject, isAdminOfAll, projects } = useAdministration()
  const change = useRoleChange(person)
  const mayChange = (project: string | null) =>
    isAdminOfAll || projects.some(({ project_id }) => project_id === project)
  return (
    <section className={classes.section}>
      <h2>Roles</h2>
      {person.roles.length === 0 && <p className="dim">No role yet, so this person can see nothing.</p>}
      <ul className={classes.rows}>
        {person.roles.map(({ project_id, role, source }) => (
          <li key={`${source} ${project_id}`} className={classes.role}>
            <span className={classes.text} dir="auto">
              {nameProject(project_id)}
            </span>
            {source === 'assigned' && mayChange(project_id) ? (
              <AssignedRole
                role={role}
                where={nameProject(project_id)}
                onChange={next => change.mutate({ project_id, role: next })}
              />
            ) : (
              <>
                <span>{nameRole(role)}</span>
                <span className="faint">{source === 'group' ? 'by group' : ''}</span>
              </>
            )}
          </li>
        ))}
      </ul>
      {person.roles.some(({ source }) => source === 'group') && (
        <p className="dim">Roles by group come from your organisation at each sign-in, and are changed there.</p>
      )}
      <RoleProblem change={change} />
      <AddRole onAdd={role => change.mutateAsync(role)} />
    </section>
  )
}

function RoleProblem({ change }: { change: ReturnType<typeof useRoleChange> }) {
  const { nameProject } = useAdministration()
  const { error, variables, reset, mutate } = change
  if (error === null) return null
  if (!isLostRace(error) || variables === undefined) return <Problem error={error} what="The role was not changed" />
  const role = variables.role === null ? 'no role' : nameRole(variables.role)
  return (
    <LostRace
      theirs="The roles above"
      yours={`${role} · ${nameProject(variables.project_id)}`}
      onKeepTheirs={reset}
      onApplyYours={() => mutate(variables)}
    />
  )
}

function AssignedRole(props: { role: Role; where: string; onChange: (role: Role | null) => void }) {
  const { role, where, onChange } = props
  return (
    <>
      <Select
        size="xs"
        aria-label={`Role in ${where}`}
        data={ROLES.map(({ value, label }) => ({ value, label }))}
        value={role}
        onChange={next => next !== null && next !== role && onChange(next as Role)}
      />
      <Button
        variant="subtle"
        size="compact-xs"
        aria-label={`Remove the role in ${where}`}
        onClick={() => onChange(null)}
      >
        Remove
      </Button>
    </>
  )
}

function AddRole({ onAdd }: { onAdd: (role: RoleInProject) => Promise<unknown> }) {
  const { isAdminOfAll, projects } = useAdministration()
  const [role, setRole] = useState<RoleInProject | undefined>()
  if (role === undefined) {
    const first = isAdminOfAll ? null : (projects[0]?.project_id ?? null)
    return (
      <div className={classes.buttons}>
        <Button variant="default" onClick={() => setRole({ project_id: first, role: 'viewer' })}>
          Add a role
        </Button>
      </div>
    )
  }
  // A failure is shown above, so the form only stays open.
  const add = () =>
    void onAdd(role).then(
      () => setRole(undefined),
      () => undefined,
    )
  return (
    <div className={classes.form}>
      <RoleChoice value={role} onChange={setRole} />
      <Group gap="sm">
        <Button onClick={add}>Add</Button>
        <Button variant="default" onClick={() => setRole(undefined)}>
          Cancel
        </Button>
      </Group>
    </div>
  )
}

function SignInLink({ person }: { person: Person }) {
  const link = useMutation({ mutationFn: () => api.signInLinks.create({ person_id: person.person_id }) })
  const { data, error, isPending, mutate } = link
  return (
    <section className={classes.section}>
      <h2>Sign-in link</h2>
      {data?.url === undefined ? (
        <p className="dim">
          The link signs a browser in as this person, once, within five minutes. Send it only to this person.
        </p>
      ) : (
        <ShownOnce label="The sign-in link" secret={data.url}>
          {`It works once, until ${formatClock(Date.parse(data.expires_at))}. Whoever opens it is signed in as ${person.name}.`}
        </ShownOnce>
      )}
      <div className={classes.buttons}>
        <Button variant="default" loading={isPending} onClick={() => mutate()}>
          {data === undefined ? 'Create a sign-in link' : 'Create another link'}
        </Button>
      </div>
      {error !== null && <Problem error={error} what="The link was not created" />}
    </section>
  )
}

function Access({ person, close }: { person: Person; close: () => void }) {
  const queryClient = useQueryClient()
  const { me } = useSession()
  const isOwn = me?.id === person.person_id ? ' You are signed in as this person: your session ends too.' : ''
  const refresh = async () => {
    await queryClient.invalidateQueries({ queryKey: ['people'] })
    await queryClient.invalidateQueries({ queryKey: ['sessions'] })
  }
  const disable = (disabled: boolean) =>
    api.people.changePerson(person.person_id, { disabled }, { ifVersion: person.version }).then(refresh)
  const enable = useMutation({ mutationFn: () => disable(false) })
  const remove = async () => {
    await api.people.removePerson(person.person_id)
    close()
    await refresh()
  }
  return (
    <section className={classes.section}>
      <h2>Access</h2>
      <div className={classes.buttons}>
        {person.disabled ? (
          <Button variant="default" loading={enable.isPending} onClick={() => enable.mutate()}>
            Enable
          </Button>
        ) : (
          <ConfirmButton
            question={`Disable ${person.name}?`}
            consequence={`All sessions of this person end, and every sign-in is refused until you enable the person again.${isOwn}`}
            onConfirm={() => disable(true)}
          >
            Disable
          </ConfirmButton>
        )}
        <ConfirmButton
          question={`Remove ${person.name}?`}
          consequence={`All sessions of this person end, and the assigned roles are lost. Somebody whom your organisation still knows appears again at the next sign-in; disable such a person instead.${isOwn}`}
          onConfirm={remove}
        >
          Remove
        </ConfirmButton>
      </div>
      {enable.error !== null && <Problem error={enable.error} what="The person was not enabled" />}
    </section>
  )
}
