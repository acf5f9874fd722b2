// Colors and defaults of the components. Greys are darker than usual: every text has a contrast of 4.5 at least.
import { createTheme, type MantineColorsTuple } from '@mantine/core'
import { messages } from '../messages'

const kyma: MantineColorsTuple = [
  '#eaf3fc',
  '#d3e5f8',
  '#a5c9ef',
  '#74ace6',
  '#5a9de2',
  '#2f83d6',
  '#146fc7',
  '#0b5cad',
  '#094c91',
  '#063a70',
]
const gray: MantineColorsTuple = [
  '#f6f8fb',
  '#edf1f6',
  '#e1e7ef',
  '#d0d8e3',
  '#b2bdcc',
  '#8593a6',
  '#55637a',
  '#414d61',
  '#2c3646',
  '#1a222e',
]
const dark: MantineColorsTuple = [
  '#dde3ec',
  '#b9c3d1',
  '#98a5b7',
  '#6f7d91',
  '#3c4758',
  '#2c3545',
  '#1e2634',
  '#141a25',
  '#10151e',
  '#0b0f16',
]

export const theme = createTheme({
  primaryColor: 'kyma',
  primaryShade: 7,
  colors: { kyma, gray, dark },
  defaultRadius: 'md',
  fontFamily: 'ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace',
  headings: {
    fontWeight: '650',
    sizes: { h1: { fontSize: '1.6rem', lineHeight: '1.25' }, h2: { fontSize: '1.15rem' }, h3: { fontSize: '1rem' } },
  },
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    Tooltip: { defaultProps: { multiline: true, maw: 300, withArrow: true, events: { hover: true, focus: true, touch: true } } },
    Modal: { defaultProps: { centered: true, closeButtonProps: { 'aria-label': messages.common.close } } },
    ModalHeader: { defaultProps: { role: 'presentation' } }, // the head of a dialog is no second head of the page
    Anchor: { defaultProps: { underline: 'hover' } },
  },
})
