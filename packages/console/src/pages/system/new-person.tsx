import { Button, Group, Modal, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { api } from '../../api/client.ts'
import { Problem } from '../../parts/problem.tsx'
import { RoleChoice, type RoleInProject } from './role-choice.tsx'
import classes from './system.module.css'
import { useAdministration } from './use-admin.ts'

/** Creates a person, and opens the page of the person, where a sign-in link is made. */
export function NewPerson({ close, open }: { close: () => void; open: (personId: string) => void }) {
  const queryClient = useQueryClient()
  const { isAdminOfAll, projects } = useAdministration()
  const [name, setName] = useState('')
  const [email, setEmail] = useState('')
  const first = isAdminOfAll ? null : (projects[0]?.project_id ?? null)
  const [role, setRole] = useState<RoleInProject>({ project_id: first, role: 'viewer' })
  const create = useMutation({
    mutationFn: () => {
      const address = email.trim() === '' ? {} : { email: email.trim() }
      return api.people.createPerson({ name: name.trim(), ...address, roles: [role] })
    },
    onSuccess: ({ person_id }) => {
      void queryClient.invalidateQueries({ queryKey: ['people'] })
      open(person_id)
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    create.mutate()
  }
  return (
    <Modal opened onClose={close} title="New person">
      <form className={classes.form} onSubmit={submit}>
        <TextInput
          data-autofocus
          label="Name"
          maxLength={200}
          value={name}
          onChange={event => setName(event.currentTarget.value)}
        />
        <TextInput
          type="email"
          label="E-mail"
          description="Optional. It is shown to admins; Backstop sends nothing to it."
          value={email}
          onChange={event => setEmail(event.currentTarget.value)}
        />
        <RoleChoice value={role} onChange={setRole} />
        {create.error !== null && <Problem error={create.error} what="The person was not created" />}
        <Group justify="flex-end" gap="sm">
          <Button variant="default" onClick={close}>
            Cancel
          </Button>
          <Button type="submit" loading={create.isPending} disabled={name.trim() === ''}>
            Create person
          </Button>
        </Group>
      </form>
    </Modal>
  )
}
