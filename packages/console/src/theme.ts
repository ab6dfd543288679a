import { createTheme, type MantineColorsTuple } from '@mantine/core'

const indigo: MantineColorsTuple = [
  '#eef2ff',
  '#e0e7ff',
  '#c7d2fe',
  '#a5b4fc',
  '#818cf8',
  '#6366f1',
  '#4f46e5',
  '#4338ca',
  '#3730a3',
  '#312e81',
]
const gray: MantineColorsTuple = [
  '#fafafa',
  '#f4f4f5',
  '#e9e9ec',
  '#dcdce0',
  '#c3c3c9',
  '#9b9ba3',
  '#71717a',
  '#52525b',
  '#3f3f46',
  '#18181b',
]
const dark: MantineColorsTuple = [
  '#e6e6e9',
  '#b4b4bb',
  '#8b8b94',
  '#5f5f68',
  '#3a3a41',
  '#2a2a30',
  '#1d1d21',
  '#131316',
  '#0e0e10',
  '#09090b',
]

const red: MantineColorsTuple = [
  '#fdeeee',
  '#f9dcdd',
  '#f0b6b9',
  '#e68c92',
  '#d95b65',
  '#cd3a48',
  '#c21f2f',
  '#a31926',
  '#85141f',
  '#6a1019',
]

/** One accent (indigo) and neutral greys. Colours with a meaning are in theme.css. */
export const theme = createTheme({
  primaryColor: 'indigo',
  // White text on the fifth shade has too little contrast.
  primaryShade: 6,
  colors: { indigo, gray, dark, red },
  black: '#18181b',
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif',
  fontFamilyMonospace: 'ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace',
  fontSizes: { xs: '12px', sm: '13px', md: '14px', lg: '16px', xl: '20px' },
  spacing: { xs: '4px', sm: '8px', md: '16px', lg: '24px', xl: '32px' },
  lineHeights: { xs: '16px', sm: '20px', md: '20px', lg: '24px', xl: '28px' },
  radius: { xs: '3px', sm: '5px', md: '6px', lg: '8px', xl: '12px' },
  defaultRadius: 'md',
  headings: {
    fontWeight: '600',
    sizes: {
      h1: { fontSize: '20px', lineHeight: '28px' },
      h2: { fontSize: '15px', lineHeight: '24px' },
      h3: { fontSize: '14px', lineHeight: '20px' },
    },
  },
  respectReducedMotion: true,
  cursorType: 'pointer',
  components: {
    Button: { defaultProps: { size: 'xs' }, styles: { root: { fontSize: '13px', fontWeight: 500 } } },
    InputWrapper: { styles: { label: { fontWeight: 500 }, description: { fontSize: '12px', lineHeight: '16px' } } },
    ActionIcon: { defaultProps: { size: 'md', variant: 'subtle', color: 'gray' } },
    TextInput: { defaultProps: { size: 'sm' } },
    PasswordInput: { defaultProps: { size: 'sm' } },
    Textarea: { defaultProps: { size: 'sm', autosize: true, minRows: 2 } },
    Select: { defaultProps: { size: 'sm', allowDeselect: false } },
    NumberInput: { defaultProps: { size: 'sm' } },
    Modal: {
      defaultProps: {
        centered: true,
        // The cross is a picture, so its button needs a name.
        closeButtonProps: { 'aria-label': 'Close' },
        overlayProps: { backgroundOpacity: 0.25 },
        transitionProps: { duration: 100 },
      },
      styles: { title: { fontWeight: 600 }, content: { border: '1px solid var(--line-strong)' } },
    },
    Menu: { defaultProps: { shadow: 'md', position: 'bottom-start', transitionProps: { duration: 0 } } },
    Tooltip: { defaultProps: { openDelay: 300, transitionProps: { duration: 0 } } },
  },
})
